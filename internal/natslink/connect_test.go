package natslink

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parley-hub/parley"
)

// newNKey makes a key and returns its public part and the file of its seed.
func newNKey(t *testing.T) (public, file string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	public, err = pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "hub.nk")
	write(t, file, seed)
	return public, file
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHubIsLetInByItsNKeyAndNotByAnother(t *testing.T) {
	t.Parallel()
	public, file := newNKey(t)
	_, wrong := newNKey(t)
	b := newBroker(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} })
	w := newLinkedHub(t, b, func(o *Options) { o.Keys.NKey = file })
	w.sayAsOwner(w.createChannel("general"), "hello")
	seed, err := nats.NkeyOptionFromSeed(file)
	w.NoError(err)
	newReader(t, b, seed).read(1)
	other := newLinkedHub(t, b, func(o *Options) { o.Keys.NKey = wrong })
	other.logged.await(t, "the server refuses the hub's key")
	other.sayAsOwner(other.createChannel("general"), "it goes on without NATS")
}

// TestChangedSeedNeedsARestart: one that is put in its place is taken at the next start.
func TestChangedSeedNeedsARestart(t *testing.T) {
	t.Parallel()
	first, file := newNKey(t)
	second, other := newNKey(t)
	b := newBroker(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: first}, {Nkey: second}} })
	w := newLinkedHub(t, b, func(o *Options) { o.Keys.NKey = file })
	w.logged.await(t, "connected to NATS")
	seed, err := os.ReadFile(other)
	w.NoError(err)
	write(t, file, seed)
	b.stop()
	b.start()
	w.logged.await(t, "restart the hub, so that it reads the new seed")
	again := newLinkedHub(t, b, func(o *Options) { o.Keys.NKey = file })
	again.logged.await(t, "connected to NATS")
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// issue makes a certificate with its key, as files; the first signs itself.
func (a *authority) issue(name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	signer, signerKey := a.cert, a.key
	if signer == nil {
		signer, signerKey = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, signer, &key.PublicKey, signerKey)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	write(a.t, a.file(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
	write(a.t, a.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return made, key
}

// secured is a server with a certificate of an authority, which wants one of whoever connects.
func (a *authority) secured() *broker {
	a.t.Helper()
	a.issue("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.issue("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.LoadX509KeyPair(a.file("server.pem"), a.file("server.key"))
	if err != nil {
		a.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return newBroker(a.t, func(o *server.Options) {
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 10
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	})
}

func TestHubIsLetInByItsCertificateAndKnowsTheServer(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := a.secured()
	keys := Keys{CA: a.file("ca.pem"), Cert: a.file("client.pem"), Key: a.file("client.key")}
	w := newLinkedHub(t, b, func(o *Options) { o.Keys = keys })
	w.sayAsOwner(w.createChannel("general"), "hello")
	newReader(t, b, nats.RootCAs(keys.CA), nats.ClientCert(keys.Cert, keys.Key)).read(1)

	stranger := newAuthority(t)
	other := newLinkedHub(t, b, func(o *Options) { o.Keys = Keys{CA: stranger.file("ca.pem"), Cert: keys.Cert, Key: keys.Key} })
	other.logged.await(t, "check nats.tls.ca")
}

func TestKeysThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open, broken := filepath.Join(dir, "open"), filepath.Join(dir, "broken")
	write(t, open, []byte("x"))
	write(t, broken, []byte("no seed"))
	if err := os.Chmod(open, 0o644); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		keys  Keys
		words string
	}{
		"a seed that others can read": {Keys{NKey: open}, "other users can read the secret"},
		"a seed that is none":         {Keys{NKey: broken}, "cannot use the NKey seed"},
		"a seed that is not there":    {Keys{NKey: filepath.Join(dir, "none")}, "there is no file"},
		"a directory":                 {Keys{Creds: dir}, "is not a file"},
		"a key that others can read":  {Keys{Cert: broken, Key: open}, "other users can read the secret"},
		"a certificate that is none":  {Keys{Cert: broken, Key: broken}, "cannot use NATS"},
		"an authority that is none":   {Keys{CA: broken}, "cannot use NATS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(nil, Options{URL: "nats://127.0.0.1:1", Keys: test.keys})
			if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), test.words) {
				t.Errorf("the error is %v, want E003 with %q", err, test.words)
			}
		})
	}
}
