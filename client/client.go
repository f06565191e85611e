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

// Options say where the hub is and who calls it.
type Options struct {
	// Socket is the path of the hub's unix socket, or URL the address of its HTTP door, such as
	// https://hub.example.org. One of them is needed. The URL of a socket is unix:// and its path.
	Socket string
	URL    string

	Home   string // where the socket is that of a home which somebody has named: hints name it too
	Token  string // without one, the socket's peer is the local owner
	As     string // an owner acts as this agent
	Source string // the door that messages come through: cli or web; default api

	// TraceParent is the W3C traceparent of what the calls are part of: messages that neither give nor inherit a trace are of
	// that one.
	TraceParent string

	// HTTP is used instead of a client of its own, with URL only. It should follow no redirects: they
	// would carry the token elsewhere.
	HTTP *http.Client
}

// Client calls one hub.
type Client struct {
	options Options
	base    string
	http    *http.Client
}

// New returns a client. It does not call the hub yet. E003 for options that cannot be meant.
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

// unixScheme begins the URL of a socket, whose path follows as it is.
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

// stay makes a client that stays with the hub it was given: a redirect would carry the token elsewhere.
func withoutRedirects(transport *http.Transport) *http.Client {
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = idleConns, idleTime
	transport.TLSHandshakeTimeout = dialTime
	transport.DisableCompression = true
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Place is where the hub is, for a person to read.
func (c *Client) Address() string {
	if c.options.Socket != "" {
		return c.options.Socket
	}
	return c.base
}
