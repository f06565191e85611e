package webhook

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

const (
	connectTimeout = 10 * time.Second
	maxRedirects   = 3
)

// guard keeps webhooks from reaching private addresses. It checks the address of each connection, so neither a changed DNS
// record nor a redirect can bypass it.
type guard struct {
	networks []netip.Prefix // allowed
	hosts    []string       // allowed, as host or host:port in lower case
	resolver *net.Resolver  // nil: the resolver of the system
}

func newGuard(allow []string) (*guard, error) {
	g := &guard{}
	for _, entry := range allow {
		if network, err := netip.ParsePrefix(entry); err == nil {
			g.networks = append(g.networks, network.Masked())
			continue
		}
		if address, err := netip.ParseAddr(entry); err == nil {
			g.networks = append(g.networks, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		if !isHost(entry) {
			return nil, parley.Errorf(parley.BadInput, "webhook.allow has %q", entry).
				Suggest("use a network like 10.0.0.0/8, an address, or a host like hooks.lan or hooks.lan:8080")
		}
		g.hosts = append(g.hosts, strings.ToLower(entry))
	}
	return g, nil
}

// NewClient returns a client that calls only public addresses and the allowed ones. It returns E003 if an entry of allow is
// malformed.
func NewClient(allow []string) (*http.Client, error) {
	g, err := newGuard(allow)
	if err != nil {
		return nil, err
	}
	return g.client(), nil
}

// isHost reports whether an entry is a name, or a name or address with a port.
func isHost(entry string) bool {
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		return entry != "" && !strings.ContainsAny(entry, ":/[]")
	}
	return host != "" && port != "" && !strings.ContainsAny(entry, "/")
}

// allowsHost reports whether the name of a host is allowed, with this port or with every port.
func (g *guard) allowsHost(host, port string) bool {
	host = strings.ToLower(host)
	return slices.Contains(g.hosts, host) || slices.Contains(g.hosts, net.JoinHostPort(host, port))
}

// client returns a client whose connections the guard checks. It uses no proxy, not even that of the environment, because the
// guard could not check the connections of a proxy.
func (g *guard) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            g.dial,
			TLSHandshakeTimeout:    connectTimeout,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: g.redirect,
	}
}

// redirect decides whether the client follows a redirect. It follows only redirects that repeat the same signed request, never
// from https to http.
func (g *guard) redirect(request *http.Request, before []*http.Request) error {
	last := before[len(before)-1]
	if request.Method != http.MethodPost || len(before) > maxRedirects || last.URL.Scheme == "https" && request.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return g.checkURL(request.URL)
}

// checkURL returns E001 if a URL names a private host or address. It does not resolve names; control checks their addresses.
func (g *guard) checkURL(target *url.URL) error {
	if g.allowsHost(target.Hostname(), portOf(target)) {
		return nil
	}
	host := strings.ToLower(strings.TrimSuffix(target.Hostname(), "."))
	for _, private := range []string{"localhost", "local", "internal", "home.arpa"} {
		if host == private || strings.HasSuffix(host, "."+private) {
			return refusedError(host)
		}
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return g.checkAddress(address)
	}
	return nil
}

// portOf returns the port of a URL, or the default port of its scheme.
func portOf(target *url.URL) string {
	if port := target.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[target.Scheme]
}

func (g *guard) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: connectTimeout, Resolver: g.resolver}
	if host, port, err := net.SplitHostPort(hostPort); err != nil || !g.allowsHost(host, port) {
		dialer.Control = g.control
	}
	return dialer.DialContext(ctx, network, hostPort)
}

// control is called with the address of each connection before it is made.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(to.Addr()) {
		return refusedError("this address") // callers must not learn what a name resolves to in this network
	}
	return nil
}

func (g *guard) checkAddress(address netip.Addr) error {
	if !g.allows(address) {
		return refusedError(address.String())
	}
	return nil
}

func (g *guard) allows(address netip.Addr) bool {
	plain := address.WithZone("").Unmap()
	return isPublic(address) || slices.ContainsFunc(g.networks, func(n netip.Prefix) bool { return n.Contains(plain) })
}

func refusedError(what string) error {
	return parley.Errorf(parley.NotPermitted, "a webhook must not call %s: only this machine or its network can reach it", what).
		Suggest("if the hub should call it, allow it in config.yaml under webhook.allow, as host:port or network")
}
