package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// into makes a reader that parses a text and puts it where it belongs.
func into[T any](where func(*Config) *T, parse func(string) (T, error)) func(*Config, string) error {
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

func within(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%q is not a number from %d to %d", text, least, most)
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

func sizeWithin[T int | int64](least, most T) func(string) (T, error) {
	return func(text string) (T, error) {
		n, err := ParseSize(text)
		if err == nil && (n < int64(least) || n > int64(most)) {
			err = fmt.Errorf("%q is not a size from %d to %d bytes", text, least, most)
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

// storeAddress does not quote what it refuses: it may hold a password.
func storeAddress(text string) (string, error) {
	if text == SQLite {
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return "", fmt.Errorf("it is neither sqlite nor a URL like postgres://user:password@host/database")
	}
	return text, nil
}

func hidePassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "hidden"
	}
	query := u.Query()
	if query.Has("password") {
		query.Set("password", "xxxxx")
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}

func hostNames(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		u, err := url.Parse("http://" + name)
		if err != nil || cmp.Or(u.Host, "/") != name || u.Hostname() == "" {
			return nil, fmt.Errorf("%q is not a host name like hub.example.org", name)
		}
		names = append(names, name)
	}
	return names, nil
}
