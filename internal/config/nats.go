package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// natsAddress checks the URLs of NATS servers. Its errors do not quote the text, because it may have a password.
func natsAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	for one := range strings.SplitSeq(text, ",") {
		if _, err := natsServer(one); err != nil {
			return "", err
		}
	}
	return text, nil
}

// natsServer reads the address of one server. Its errors contain nothing of the address, because it can have a password.
func natsServer(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "":
		return nil, errors.New("it is not a URL like nats://host:4222")
	case hasUnescapedAt(u):
		return nil, errUnescaped
	default:
		return u, nil
	}
}

// hideUsers hides passwords, and users without a password, because those are tokens. It hides everything if one part is not the
// address of a server, because that part can be the end of a password with a comma.
func hideUsers(text string) string {
	if text == "" {
		return ""
	}
	servers := strings.Split(text, ",")
	for i, one := range servers {
		u, err := natsServer(one)
		if err != nil {
			return "hidden"
		}
		if _, has := u.User.Password(); u.User != nil && !has {
			u.User = url.User("xxxxx")
		}
		servers[i] = u.Redacted()
	}
	return strings.Join(servers, ",")
}

var natsNamePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func natsName(text string) (string, error) {
	if !natsNamePattern.MatchString(text) {
		return "", fmt.Errorf("%q is not a name of letters, digits, _ and -", text)
	}
	return text, nil
}

func anyText(text string) (string, error) { return text, nil }
