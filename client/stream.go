package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// open makes a call without a time limit, and returns the body of the answer. Reads from the body return the same errors as a
// call.
func (c *Client) open(ctx context.Context, r request, steps ...string) (io.ReadCloser, error) {
	path, err := pathOf(steps...)
	if err != nil {
		return nil, err
	}
	r.path = path
	body, err := c.send(ctx, r)
	if err != nil {
		return nil, c.callError(ctx, ctx, err)
	}
	return &answerBody{ctx, c, body}, nil
}

// callWithoutLimit makes a call without a time limit, and decodes the answer as an Out.
func callWithoutLimit[Out any](ctx context.Context, c *Client, r request, steps ...string) (out Out, err error) {
	answer, err := c.open(ctx, r, steps...)
	if err != nil {
		return out, err
	}
	defer func() { _ = answer.Close() }()
	err = c.decode(answer, &out)
	return out, err
}

// copyTo makes a call without a time limit, and writes the answer to w.
func (c *Client) copyTo(ctx context.Context, w io.Writer, q url.Values, steps ...string) error {
	body, err := c.open(ctx, request{method: http.MethodGet, query: q}, steps...)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	_, err = io.Copy(w, body)
	return err
}

// answerBody is the body of an answer. It turns errors of the connection into errors of a call.
type answerBody struct {
	ctx    context.Context
	client *Client
	body   io.ReadCloser
}

func (a *answerBody) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader returns io.EOF itself
		err = a.client.callError(a.ctx, a.ctx, a.client.connectionError(err))
	}
	return n, err
}

func (a *answerBody) Close() error { return a.body.Close() }
