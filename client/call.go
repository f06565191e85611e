package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

const (
	answerTime = 30 * time.Second // for an answer, besides the time that the call itself waits
	maxAnswer  = 64 << 20         // bytes of one JSON answer
)

// request is one call.
type request struct {
	method      string
	path        string
	query       url.Values
	key         string    // idempotency key
	accept      string    // media type of the answer, if it is not JSON
	body        []byte    // JSON
	stream      io.Reader // the body, if it is not JSON; its type is contentType
	contentType string
}

// pathOf returns the path whose elements are the given names. It escapes each name, so that a name is always one element.
func pathOf(steps ...string) (string, error) {
	var path strings.Builder
	path.WriteString("/v1")
	for _, step := range steps {
		if step == "" || step == "." || step == ".." {
			return "", parley.Errorf(parley.BadInput, "%q is not a name", step).Suggest("give a name or an id")
		}
		path.WriteString("/" + url.PathEscape(step))
	}
	return path.String(), nil
}

// call sends in as JSON, unless in is nil, and decodes the answer as an Out.
func call[Out any](ctx context.Context, c *Client, method string, in any, steps ...string) (Out, error) {
	return callWith[Out](ctx, c, request{method: method}, in, 0, steps...)
}

// fetch sends a GET with a query, and decodes the answer as an Out.
func fetch[Out any](ctx context.Context, c *Client, query url.Values, steps ...string) (Out, error) {
	return callWith[Out](ctx, c, request{method: http.MethodGet, query: query}, nil, 0, steps...)
}

// callWith sends a prepared request like call. It allows the answer wait more time.
func callWith[Out any](ctx context.Context, c *Client, r request, in any, wait time.Duration, steps ...string) (out Out, err error) {
	err = c.exchange(ctx, r, in, wait, func(body io.Reader) error { return c.decode(body, &out) }, steps...)
	return out, err
}

// do makes a call whose answer is empty.
func (c *Client) do(ctx context.Context, method string, in any, steps ...string) error {
	return c.exchange(ctx, request{method: method}, in, 0, func(io.Reader) error { return nil }, steps...)
}

// exchange sends in as JSON, unless in is nil, and passes the body of the answer to read.
func (c *Client) exchange(
	ctx context.Context, r request, in any, wait time.Duration, read func(io.Reader) error, steps ...string,
) (err error) {
	if r.path, err = pathOf(steps...); err != nil {
		return err
	}
	if in != nil {
		if r.body, err = encode(in); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, answerTime+max(wait, 0))
	defer cancel()
	body, err := c.send(limited, r)
	if err == nil {
		defer func() { _ = body.Close() }()
		err = read(body)
	}
	return c.callError(ctx, limited, err)
}

func encode(in any) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, parley.Errorf(parley.BadInput, "the request cannot be encoded as JSON: %w", err).
			Suggest("check payload and metadata")
	}
	return raw, nil
}

// send sends a request and returns the body of the answer if the hub has made the call. Otherwise it returns an error, which
// is *parley.Held if the call needs an approval.
func (c *Client) send(ctx context.Context, r request) (io.ReadCloser, error) {
	httpRequest, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, parley.Errorf(parley.BadInput, "the path %q is invalid", r.path).Suggest("check the names in it").From(err)
	}
	response, err := c.http.Do(httpRequest)
	if err != nil {
		return nil, c.connectionError(err)
	}
	if response.StatusCode/100 == 2 && response.StatusCode != http.StatusAccepted {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusAccepted {
		return nil, c.heldError(response)
	}
	return nil, c.refusal(response)
}

// newRequest returns the HTTP request of a call, with the caller's credential.
func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	body, kind := r.stream, r.contentType
	if r.body != nil {
		body, kind = bytes.NewReader(r.body), "application/json"
	}
	httpRequest, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}
	bearer, ofClient := "", ""
	if c.options.OfClient {
		ofClient = "yes"
	}
	if c.options.Token != "" {
		bearer = "Bearer " + c.options.Token
	}
	for name, value := range map[string]string{
		"Authorization": bearer, "Content-Type": kind, "Idempotency-Key": r.key, "Accept": r.accept,
		"Parley-As": c.options.As, "Parley-Source": c.options.Source, "Traceparent": c.options.TraceParent,
		"Parley-Client": ofClient,
	} {
		if value != "" {
			httpRequest.Header.Set(name, value)
		}
	}
	return httpRequest, nil
}

func (c *Client) decode(body io.Reader, out any) error {
	raw, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return c.connectionError(err)
	case len(raw) > maxAnswer:
		return c.notAHub("an answer of more than %d MiB", maxAnswer>>20)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return c.notAHub("an answer that is not what was asked for").From(err)
	}
	return nil
}

// callError returns the error of a failed call: that of ctx if ctx has ended, E004 if limited ran out of time, and otherwise
// err itself.
func (c *Client) callError(ctx, limited context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return parley.Errorf(parley.TimedOut, "the hub at %s did not answer in time", c.Address()).
			Suggest("see what it is doing: parley status").From(err)
	default:
		return err
	}
}
