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
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if text != "" && (err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "") {
			return "", errors.New("it is not a URL like nats://host:4222")
		}
		if text != "" && hasUnescapedAt(u) {
			return "", errUnescaped
		}
	}
	return text, nil
}

// hideUsers hides passwords, and users without a password, because those are tokens.
func hideUsers(text string) string {
	servers := strings.Split(text, ",")
	for i, one := range servers {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || hasUnescapedAt(u) {
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
