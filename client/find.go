package client

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// Find returns the options for a hub. With a home, it is the hub of that home, at its socket. With "", it is the hub at
// PARLEY_URL: http://…, https://…, or unix:// and the path of a socket. Without PARLEY_URL, it is the hub whose home Home
// returns. Find takes the token from PARLEY_TOKEN, and the trace of posted messages from TRACEPARENT. It does not check
// whether the hub runs.
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

// Home returns the absolute path of a hub's home: the given one; with "", PARLEY_HOME; without that variable, .parley in the
// user's home directory.
func Home(home string) (string, error) {
	if home == "" {
		home = os.Getenv("PARLEY_HOME")
	}
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", parley.Errorf(parley.BadInput, "cannot find your home directory: %w", err).
				Suggest("set PARLEY_HOME, or give --home")
		}
		home = filepath.Join(user, ".parley")
	}
	return filepath.Abs(home)
}

// socketOf returns the path of the socket of a home's hub. If the path in the home would be too long for a socket, the hub
// listens elsewhere and writes the path to its run file. The file can outlive the hub, and another user could then listen at
// that path. So socketOf uses the path only if its directory belongs to the owner of the home.
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
