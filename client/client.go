package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/parley-hub/parley"
)

// Options say where the hub is and as whom a client calls it. New needs either Socket or URL.
type Options struct {
	// Socket is the path of the hub's unix socket.
	Socket string
	// URL is the address of the hub's HTTP API, such as https://hub.example.org; or unix:// and the path of the socket.
	URL string

	Home   string // the home directory that the caller named, if any; suggestions in errors name it
	Token  string // the caller's token; without one, the hub takes a caller at the socket for the local owner
	As     string // the agent as which an owner acts
	Source string // the source of posted messages: cli or web; default api

	// OfClient says that the caller is a part of an agent's client, such as an MCP server or a hook. At the socket, the hub then takes the
	// client of this process, and everything that the client starts, for the agent of the token, until the client ends.
	OfClient bool

	// TraceParent is a W3C traceparent. The hub adds messages to its trace, unless they have or inherit another trace.
	TraceParent string

	// HTTP replaces the HTTP client that New would make. New uses it only with URL. It should not follow redirects, because a
	// redirect would send the token to another server.
	HTTP *http.Client
}

// Client calls one hub.
type Client struct {
	options Options
	base    string
	http    *http.Client
}

// New returns a client. It does not call the hub yet. It returns E003 if an option is invalid.
func New(o Options) (*Client, error) {
	o.Token = strings.TrimSpace(o.Token)
	if strings.ContainsFunc(o.Token+o.As+o.Source, unicode.IsControl) {
		return nil, parley.Errorf(parley.BadInput, "a token or a name contains a control character").Suggest("check PARLEY_TOKEN")
	}
	if path, found := strings.CutPrefix(o.URL, unixScheme); found && o.Socket == "" {
		if !filepath.IsAbs(path) {
			return nil, errAddress(o.URL)
		}
		o.Socket, o.URL = path, ""
	}
	if o.Socket == "" {
		if err := checkURL(o.URL); err != nil {
			return nil, err
		}
		return &Client{options: o, base: strings.TrimRight(o.URL, "/"), http: o.overTCP()}, nil
	}
	if o.URL != "" {
		return nil, parley.Errorf(parley.BadInput, "a client has a socket or a URL, not both").Suggest("give one of them")
	}
	return &Client{options: o, base: "http://localhost", http: o.overSocket()}, nil
}

func checkURL(address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return errAddress(address)
	}
	return nil
}

// unixScheme begins the URL of a socket. The path follows without escapes.
const unixScheme = "unix://"

func errAddress(address string) error {
	return parley.Errorf(parley.BadInput, "%q is not the address of a hub", address).
		Suggest("write it like http://127.0.0.1:7717, or unix:///home/me/.parley/parley.sock")
}

const (
	dialTime  = 10 * time.Second
	idleTime  = 90 * time.Second
	idleConns = 64
)

func (o Options) overTCP() *http.Client {
	if o.HTTP != nil {
		return o.HTTP
	}
	dialer := &net.Dialer{Timeout: dialTime}
	return withoutRedirects(&http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true})
}

func (o Options) overSocket() *http.Client {
	dialer := &net.Dialer{Timeout: dialTime}
	return withoutRedirects(&http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", o.Socket)
	}})
}

// withoutRedirects returns an HTTP client that follows no redirects: a redirect would send the token to another server.
func withoutRedirects(transport *http.Transport) *http.Client {
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = idleConns, idleTime
	transport.TLSHandshakeTimeout = dialTime
	transport.DisableCompression = true
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Address returns the path of the hub's socket or the URL of its HTTP API, for a person to read.
func (c *Client) Address() string {
	if c.options.Socket != "" {
		return c.options.Socket
	}
	return c.base
}
