package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/parley-hub/parley"
)

const maxAnswer = 1 << 20

// post sends JSON and returns the status and the body of the response. prepare may add headers to the request. No error
// repeats the URL, which may contain a secret.
func post(ctx context.Context, client *http.Client, to string, body []byte, prepare func(*http.Request)) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the URL cannot be called")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "parley")
	prepare(request)
	response, err := client.Do(request)
	if call, ok := errors.AsType[*url.Error](err); ok {
		err = call.Err
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, err
}

// deliver posts a value as JSON. It returns an error unless the status of the response is 2xx.
func deliver(ctx context.Context, client *http.Client, to string, message any, prepare func(r *http.Request, body []byte)) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	status, _, err := post(ctx, client, to, body, func(r *http.Request) { prepare(r, body) })
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("the server answered with status %d", status)
	}
	return err
}

// shortError returns the message of a parley.Error without its code and hint, and any other error as it is.
func shortError(err error) error {
	if ours, ok := errors.AsType[*parley.Error](err); ok {
		return errors.New(ours.Message)
	}
	return err
}
