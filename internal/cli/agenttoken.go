package cli

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/home"
)

// hubOf returns the hub that options name, as home.AgentToken names it.
func hubOf(o client.Options, dir string) (string, error) {
	if path, isSocket := strings.CutPrefix(o.URL, "unix://"); isSocket {
		own, err := client.Find(dir)
		if err != nil || path == own.Socket {
			return "", err
		}
	}
	address, err := url.Parse(o.URL)
	if o.URL == "" || err != nil { // client.New refuses what is no URL
		return o.URL, nil //nolint:nilerr // see above
	}
	address.Host = strings.ToLower(address.Host)
	return strings.TrimRight(address.String(), "/"), nil
}

// useAgentToken adds the stored token of a connected agent to options that the environment has made. The token goes to its own hub only:
// the environment of a client can be set by others, such as the files of a project. If the environment names no hub, the options name that
// of the token. If it names another one, they keep the token of the environment.
func useAgentToken(o *client.Options, dir, agent string) error {
	stored, err := home.Dir(dir).AgentToken(agent)
	if err != nil {
		return err
	}
	hub, err := hubOf(*o, dir)
	switch {
	case err != nil:
		return err
	case o.URL == "" && stored.Hub != "":
		o.Socket, o.URL, o.Token = "", stored.Hub, stored.Secret
	case hub == stored.Hub:
		o.Token = stored.Secret
	case o.Token == "":
		return parley.Errorf(parley.BadInput, "the stored token of %s is for %s, and PARLEY_URL names %s", agent, hubTitle(stored.Hub, dir), o.URL).
			Suggest("unset PARLEY_URL, or connect the client with that hub: parley connect")
	}
	return nil
}

// hubTitle returns the hub of a token for a person to read.
func hubTitle(hub, dir string) string { return cmp.Or(hub, "the hub of the home "+dir) }
