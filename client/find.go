package client

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// Find returns how to reach a hub: the one whose home this is, at its socket. Without a home it is the one at
// PARLEY_URL (http://…, https://…, or unix:// with the path of a socket), or else the one of PARLEY_HOME, or of .parley in the user's directory. PARLEY_TOKEN is the
// credential for each, and TRACEPARENT the trace that what is posted belongs to. Whether the hub runs is not looked at.
func Find(home string) (Options, error) {
	options := Options{Home: home, Token: os.Getenv("PARLEY_TOKEN"), TraceParent: os.Getenv("TRACEPARENT")}
	if address := os.Getenv("PARLEY_URL"); home == "" && address != "" {
		options.URL = address
		return options, nil
	}
	home, err := Home(home)
	if err != nil {
		return options, err
	}
	options.Socket = socketOf(home)
	return options, nil
}

// Home is the absolute path of a hub's home: the one given, PARLEY_HOME, or .parley in the user's directory.
func Home(home string) (string, error) {
	if home == "" {
		home = os.Getenv("PARLEY_HOME")
	}
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", parley.Errorf(parley.BadInput, "nobody knows where your home directory is").
				Suggest("set PARLEY_HOME, or give --home").From(err)
		}
		home = filepath.Join(user, ".parley")
	}
	return filepath.Abs(home)
}

// socketOf is where the hub of a home listens. One whose path would be too long for a socket listens
// elsewhere, and its run file says where. It may say so still when the hub is gone: what another user has put
// there since is not the hub.
func socketOf(home string) string {
	var run struct {
		Socket string `json:"socket"`
	}
	raw, err := os.ReadFile(filepath.Join(home, "run", "hub.json"))
	if err == nil && json.Unmarshal(raw, &run) == nil && run.Socket != "" && sameOwner(home, filepath.Dir(run.Socket)) {
		return run.Socket
	}
	return filepath.Join(home, "parley.sock")
}
