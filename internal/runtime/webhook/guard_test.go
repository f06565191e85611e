package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley"
)

// TestWebhookSSRF checks the threat "Webhook SSRF": the runtime connects to no address that only this machine or its network can
// reach, whatever name or redirect leads to the address.
func TestWebhookSSRF(t *testing.T) {
	t.Run("addresses", func(t *testing.T) {
		r := newRuntime(t, t.TempDir())
		for _, host := range []string{
			"127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
			"224.0.0.1", "255.255.255.255", "198.18.0.1", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[ff02::1]",
			"[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]",
			"[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::]", "[2001:db8::1]",
			"localhost", "LOCALHOST.", "printer.local", "metadata.google.internal", "nas.home.arpa",
		} {
			err := r.Check(t.Context(), agentAt("http://"+host+":8080/hook"))
			if parley.CodeOf(err) != parley.NotPermitted {
				t.Errorf("%s: %v, want E001", host, err)
			}
		}
		for _, host := range []string{"93.184.216.34", "[2606:2800:220:1::1]", "[64:ff9b::5db8:d822]", "[2002:5db8:d822::1]", "example.org", "locality.example"} {
			if err := r.Check(t.Context(), agentAt("https://"+host)); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	})
	t.Run("other ways to write them", func(t *testing.T) {
		s := newFixture(t, unreachable(t))
		r := newRuntime(t, s.dir)
		r.guard.resolver = nameserver(t, "127.0.0.1")
		port := s.server.URL[strings.LastIndex(s.server.URL, ":"):]
		for _, host := range []string{"127.1", "0x7f000001", "2130706433", "017700000001"} {
			if _, err := r.Run(t.Context(), s.request("http://"+host+port)); err == nil {
				t.Errorf("%s was called", host)
			}
		}
	})
	t.Run("a name that changes its address", func(t *testing.T) {
		s := newFixture(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusNoContent)
		})
		s.Runtime = newRuntime(t, s.dir, "127.0.0.1/32")
		s.guard.resolver = nameserver(t, "127.0.0.1", "169.254.169.254")
		url := "http://rebind.example" + s.server.URL[strings.LastIndex(s.server.URL, ":"):]
		if _, err := s.Run(t.Context(), s.request(url)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), s.request(url)); parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("the second call ended with %v, want E001", err)
		}
	})
	t.Run("a redirect", func(t *testing.T) {
		private := httptest.NewServer(unreachable(t))
		defer private.Close()
		for _, to := range []string{private.URL, "http://169.254.169.254/latest/meta-data", "http://[::ffff:10.0.0.1]/", "http://localhost/"} {
			s := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusTemporaryRedirect)
			})
			if _, err := s.run(); parley.CodeOf(err) != parley.NotPermitted {
				t.Errorf("a redirect to %s ended with %v, want E001", to, err)
			}
		}
	})
	t.Run("a proxy of the environment", func(t *testing.T) {
		proxy := httptest.NewServer(unreachable(t))
		defer proxy.Close()
		t.Setenv("HTTP_PROXY", proxy.URL)
		transport, ok := newRuntime(t, t.TempDir()).client.Transport.(*http.Transport)
		if !ok || transport.Proxy != nil {
			t.Error("calls go through a proxy")
		}
	})
}

// unreachable is a server that must not be called.
func unreachable(t *testing.T) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was called", r.Host) }
}

// nameserver returns a resolver that answers the addresses in order, and then always the last one.
func nameserver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		question := make([]byte, 512)
		for asked := 0; ; {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			kind, end := questionIn(question[:n])
			answer := append([]byte{}, question[:end]...)
			answer[2], answer[3] = 0x81, 0x80 // a response, without error
			clear(answer[6:12])
			if kind == 1 { // A
				answer[7] = 1
				ip := netip.MustParseAddr(addresses[min(asked, len(addresses)-1)]).As4()
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, ip[:]...)
				asked++
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// questionIn returns the record type in a query, and the offset after its only question.
func questionIn(query []byte) (kind uint16, end int) {
	at := 12
	for query[at] != 0 {
		at += int(query[at]) + 1
	}
	return binary.BigEndian.Uint16(query[at+1:]), at + 5
}

func TestRedirectsThatAreFollowed(t *testing.T) {
	for hops, reaches := range map[int64]bool{0: true, 3: true, 4: false} {
		var left, posts atomic.Int64
		left.Store(hops)
		s := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.ContentLength > 0 && r.Header.Get("Parley-Signature") != "" {
				posts.Add(1)
			}
			if left.Add(-1) >= 0 {
				w.Header().Set("Location", "/next")
				w.WriteHeader(http.StatusPermanentRedirect)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
		_, err := s.run()
		if (err == nil) != reaches || posts.Load() != min(hops, maxRedirects)+1 || s.began != 1 {
			t.Errorf("%d redirects: %v, after %d signed posts, begun %d times", hops, err, posts.Load(), s.began)
		}
	}
}

func TestARedirectStaysEncrypted(t *testing.T) {
	from := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "a.example"}}
	to := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "a.example"}}
	if err := new(guard).redirect(to, []*http.Request{from}); err == nil {
		t.Error("a redirect from https to http is followed")
	}
}

func TestAllowedAddresses(t *testing.T) {
	for _, entry := range []string{"", "10.0.0.0/99", ":80", "host:", "http://host", "[::1]"} {
		if _, err := New(Options{Allow: []string{entry}}); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%q: %v, want E003", entry, err)
		}
	}
	r := newRuntime(t, t.TempDir(), "10.0.0.0/8", "fd00::/8", "LocalHost:8080", "nas.local:443", "Hooks.local", "192.168.7.7", "fe80::7")
	for url, allowed := range map[string]bool{
		"http://10.9.9.9": true, "http://[::ffff:10.9.9.9]": true, "http://11.0.0.1": true, "http://192.168.0.1": false,
		"http://[fd00::1]": true, "http://localhost:8080": true, "http://localhost": false, "https://nas.local": true, "http://nas.local": false,
		"http://hooks.local": true, "http://HOOKS.local:8080": true, "http://hooks.local.local": false,
		"http://192.168.7.7:8080": true, "http://192.168.7.8": false, "http://[fe80::7]": true, "http://[fe80::8]": false,
	} {
		if err := r.Check(t.Context(), agentAt(url)); (err == nil) != allowed {
			t.Errorf("%s: %v", url, err)
		}
	}
}
