package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// setField returns a function that parses a text and sets a field of the configuration.
func setField[T any](where func(*Config) *T, parse func(string) (T, error)) func(*Config, string) error {
	return func(c *Config, text string) (err error) {
		*where(c), err = parse(text)
		return err
	}
}

func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
		}
		return text, nil
	}
}

func upTo(highest int) func(string) (int, error) { return number(1, highest) }

func number(lowest, highest int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < lowest || n > highest {
			return 0, fmt.Errorf("%q is not a number from %d to %d", text, lowest, highest)
		}
		return n, nil
	}
}

func perSecond(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1e6) {
		return 0, fmt.Errorf("%q is not a number from 0 to 1000000", text)
	}
	return n, nil
}

func sizeWithin[T int | int64](lowest, highest T) func(string) (T, error) {
	return func(text string) (T, error) {
		n, err := ParseSize(text)
		if err == nil && (n < int64(lowest) || n > int64(highest)) {
			err = fmt.Errorf("%q is not a size from %d to %d bytes", text, lowest, highest)
		}
		return T(n), err
	}
}

func durationOrOff(text string) (time.Duration, error) {
	if text == off {
		return 0, nil
	}
	d, err := ParseDuration(text)
	if err == nil && d < time.Second {
		err = fmt.Errorf("%q is shorter than a second: write off for no limit", text)
	}
	return d, err
}

func durationWithin(lowest, highest time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := ParseDuration(text)
		if err == nil && (d < lowest || d > highest) {
			err = fmt.Errorf("%q is not a duration from %v to %v", text, lowest, highest)
		}
		return d, err
	}
}

func sizeOrOff(text string) (int64, error) {
	if text == off {
		return 0, nil
	}
	n, err := ParseSize(text)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q would keep nothing: write off for no limit", text)
	}
	return n, err
}

func address(text string) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("%q is not an address like 127.0.0.1:7717", text)
	}
	return text, nil
}

// origin checks a URL that ends after its host.
func origin(text string) (string, error) {
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || text != u.Scheme+"://"+u.Host) {
		return "", fmt.Errorf("%q is not a URL like https://parley.example.org, without a path", text)
	}
	return text, nil
}

// storeAddress checks the address of the store. Its errors do not quote the text, because it may have a password.
func storeAddress(text string) (string, error) {
	if text == SQLite {
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return "", fmt.Errorf("it is neither sqlite nor a URL like postgres://user:password@host/database")
	}
	if hasUnescapedAt(u) {
		return "", errUnescaped
	}
	return text, nil
}

var errUnescaped = errors.New("it has an @ after its host: in a password, write / as %2F, ? as %3F and # as %23")

// hasUnescapedAt reports whether a URL has an @ after its host. In that case, an unescaped / ? or # has cut the
// password, and its rest would be read as a path.
func hasUnescapedAt(u *url.URL) bool {
	return strings.Contains(u.Path+u.RawQuery+u.Fragment, "@")
}

// hidePassword returns an address without its password, whatever characters the password has. If it cannot find the end
// of the password, it hides the whole address.
func hidePassword(text string) string {
	u, err := url.Parse(text)
	if err != nil || hasUnescapedAt(u) {
		return "hidden"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "hidden"
	}
	for key := range query {
		if strings.Contains(strings.ToLower(key), "password") {
			u.RawQuery, u.Fragment, u.RawFragment = "password=xxxxx", "", "" // other parameters may be the rest of the password
		}
	}
	return u.Redacted()
}

func hostNames(text string) ([]string, error) {
	return splitList(text, func(name string) error {
		if !isHost(name) {
			return fmt.Errorf("%q is not a host name like hub.example.org", name)
		}
		return nil
	})
}

func isHost(name string) bool {
	u, err := url.Parse("http://" + name)
	return err == nil && cmp.Or(u.Host, "/") == name && u.Hostname() != ""
}

// networkPlaces parses hosts, addresses and networks.
func networkPlaces(text string) ([]string, error) {
	return splitList(text, func(place string) error {
		_, notNetwork := netip.ParsePrefix(place)
		_, notAddress := netip.ParseAddr(place)
		if notNetwork != nil && notAddress != nil && !isHost(place) {
			return fmt.Errorf("%q is neither a host name, an address nor a network like 10.0.0.0/8", place)
		}
		return nil
	})
}

// splitList splits a list at commas and checks each item.
func splitList(text string, check func(string) error) ([]string, error) {
	var list []string
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		if err := check(one); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// tierPairs parses pairs such as command-pm. With an empty list, no tier may contact another.
func tierPairs(text string) (parley.Tiers, error) {
	known := []parley.Tier{parley.TierCommand, parley.TierPM, parley.TierWorker}
	pairs := parley.Tiers{}
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		a, b, _ := strings.Cut(word, "-")
		pair := [2]parley.Tier{parley.Tier(a), parley.Tier(b)}
		if !slices.Contains(known, pair[0]) || !slices.Contains(known, pair[1]) {
			return nil, fmt.Errorf("%q is not a pair like pm-worker of command, pm and worker", word)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// shortOrOff parses a limit that may be shorter than a second.
func shortOrOff(text string) (time.Duration, error) {
	if text == off {
		return 0, nil
	}
	d, err := ParseDuration(text)
	if err == nil && (d < time.Millisecond || d > day) {
		err = fmt.Errorf("%q is not a duration from 1ms to a day: write off for no limit", text)
	}
	return d, err
}

func percentOrOff(text string) (float64, error) {
	if text == off {
		return 0, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(n > 0 && n <= 100) {
		return 0, fmt.Errorf("%q is not a percentage above 0 and up to 100", text)
	}
	return n, nil
}

// webAddress checks a web URL. Its errors do not quote the text, because it may have a password.
func webAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		return "", fmt.Errorf("it is not a URL like http://127.0.0.1:4318")
	}
	return text, nil
}

// headers parses HTTP headers of the form name=value. Its errors do not quote them, because they may be secret.
func headers(text string) (map[string]string, error) {
	found := map[string]string{}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" || strings.ContainsAny(name+value, "\r\n") {
			return nil, fmt.Errorf("a header is not of the form name=value")
		}
		found[name] = value
	}
	return found, nil
}

// hideAll shows only whether something is set.
func hideAll(text string) string {
	if text == "" {
		return ""
	}
	return "hidden"
}
