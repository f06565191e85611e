package natslink

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parley-hub/parley"
)

// Keys are the files that authenticate the hub to the server, and the server to the hub.
type Keys struct {
	NKey  string // the seed of an NKey
	Creds string // credentials of a decentralized account
	CA    string // the certificates that have signed the certificate of the server
	Cert  string // the hub's own certificate
	Key   string // the private key of Cert
}

// settings returns the options of the connection. The hub reconnects without end, even if the server refuses its key, because the
// server may accept the key later.
func (l *Link) settings() ([]nats.Option, error) {
	list := []nats.Option{
		nats.Name("parley " + l.Name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(reconnectDelay), nats.ReconnectBufSize(-1), nats.Timeout(serverTimeout),
		nats.ConnectHandler(func(c *nats.Conn) { l.noteConnected(c) }),
		nats.ReconnectHandler(func(c *nats.Conn) { l.noteConnected(c) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.noteDisconnected(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.noteDisconnected(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, errSeedChanged) { // this is the reason for the failed connection
				l.noteDisconnected(err)
				return
			}
			l.Log.Warn("NATS reports a failure", "error", err)
		}),
	}
	secured, err := l.Keys.settings()
	return append(list, secured...), err
}

// reconnectDelay returns the delay before the next attempt to connect. It doubles each time that all servers failed.
func reconnectDelay(attempts int) time.Duration {
	return min(firstReconnectDelay<<min(max(attempts-1, 0), 10), maxReconnectDelay)
}

func (k Keys) settings() (list []nats.Option, err error) {
	for _, secret := range []string{k.NKey, k.Creds, k.Key} {
		if err := checkSecret(secret); err != nil {
			return nil, err
		}
	}
	if k.NKey != "" {
		option, err := k.nkey()
		if err != nil {
			return nil, parley.Errorf(parley.BadInput, "cannot use the NKey seed %s: %w", k.NKey, err).
				Suggest("make one with nk -gen user, and keep it in a file of its own")
		}
		list = append(list, option)
	}
	if k.Creds != "" {
		list = append(list, nats.UserCredentials(k.Creds))
	}
	if k.CA != "" {
		list = append(list, nats.RootCAs(k.CA))
	}
	if k.Cert != "" || k.Key != "" {
		list = append(list, nats.ClientCert(k.Cert, k.Key))
	}
	return list, nil
}

// errSeedChanged is the error for a seed file that has another key than at the start. The library keeps the first public key.
var errSeedChanged = errors.New("the NKey seed is not the one that the hub was started with")

// nkey reads the seed for each signature, so that no copy of it stays in memory.
func (k Keys) nkey() (nats.Option, error) {
	public, _, err := k.sign(nil)
	if err != nil {
		return nil, err
	}
	return nats.Nkey(public, func(nonce []byte) ([]byte, error) {
		now, signature, err := k.sign(nonce)
		if err == nil && now != public {
			err = errSeedChanged
		}
		return signature, err
	}), nil
}

func (k Keys) sign(nonce []byte) (public string, signature []byte, err error) {
	raw, err := os.ReadFile(k.NKey)
	if err != nil {
		return "", nil, err
	}
	defer clear(raw)
	pair, err := nkeys.ParseDecoratedUserNKey(raw)
	if err != nil {
		return "", nil, err
	}
	defer pair.Wipe()
	if public, err = pair.PublicKey(); err == nil {
		signature, err = pair.Sign(nonce)
	}
	return public, signature, err
}

// checkSecret returns E003 if a secret file is missing, unreadable, not a regular file, or readable by others.
func checkSecret(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return parley.Errorf(parley.BadInput, "there is no file %s", path).Suggest("check the settings nats.*")
	case err != nil:
		return parley.Errorf(parley.BadInput, "cannot read the file %s: %w", path, err).Suggest("check its permissions")
	case !info.Mode().IsRegular():
		return parley.Errorf(parley.BadInput, "%s is not a file", path).Suggest("check the settings nats.*")
	case info.Mode().Perm()&0o077 != 0:
		return parley.Errorf(parley.BadInput, "other users can read the secret %s", path).Suggest("chmod 600 %s", path)
	}
	return nil
}

func (l *Link) noteConnected(c *nats.Conn) {
	if l.state.connect(true, "") {
		l.Log.Info("connected to NATS", "server", c.ConnectedAddr())
	}
}

// noteDisconnected logs that the server is unreachable, once for each reason.
func (l *Link) noteDisconnected(err error) {
	reason := "the connection was closed"
	if err != nil {
		reason = err.Error()
	}
	if l.state.connect(false, reason) {
		l.Log.Warn("the connection to NATS is lost; the hub publishes pending messages after it reconnects", "error", reason, "suggestion", suggestionFor(err))
	}
}

// suggestionFor returns what to do about a failed connection.
func suggestionFor(err error) string {
	switch {
	case errors.Is(err, errSeedChanged):
		return "restart the hub, so that it reads the new seed"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired):
		return "the server refuses the hub's key: check nats.nkey, nats.creds and the user in nats.url, and the server's list of users"
	case err != nil && strings.Contains(err.Error(), "x509"), errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return "check nats.tls.ca, nats.tls.cert and nats.tls.key, and the server's certificate"
	default:
		return "check that the server runs, and check nats.url"
	}
}
