package llm

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	connectWithin = 15 * time.Second
	// headersWithin is long, because a local server may have to load the model first.
	headersWithin = 5 * time.Minute
	maxResponse   = 32 << 20 // bytes of one answer
)

var (
	errRedirect = errors.New("the API redirects to another address")
	errTooLarge = errors.New("the answer is too large")
)

// newClient makes the client that sends the requests. It uses the proxies of the environment.
func newClient() *http.Client {
	return &http.Client{Transport: limitedTransport{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectWithin, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   connectWithin,
		ResponseHeaderTimeout: headersWithin,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   16,
		ForceAttemptHTTP2:     true,
	}}}
}

// limitedTransport limits the size of answers, and follows no redirect, because a redirect would send the key to another
// address.
type limitedTransport struct{ http.RoundTripper }

func (g limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		return nil, errRedirect
	}
	response.Body = &limitedBody{ReadCloser: response.Body, left: maxResponse}
	return response, nil
}

// CloseIdleConnections closes the connections that are kept open for further requests.
func (g limitedTransport) CloseIdleConnections() {
	if c, ok := g.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
