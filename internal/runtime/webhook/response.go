package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

const (
	largestResponse = 1 << 20
	maxPause        = time.Hour // that a Retry-After can ask for
	maxQuote        = 300       // runes of a response in a failure
)

// readResponse makes the result of a run out of a response.
func readResponse(ctx context.Context, response *http.Response, log func([]byte)) (parley.Result, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, largestResponse+1))
	if err != nil {
		return parley.Result{}, explain(ctx, err)
	}
	log(body)
	switch status := response.StatusCode; {
	case status == http.StatusNoContent:
		return parley.Result{}, nil
	case status != http.StatusOK:
		return parley.Result{}, refusal(response, body)
	case len(body) > largestResponse:
		return parley.Result{}, unusable("has more than %d bytes", largestResponse)
	case response.Header.Get("Content-Encoding") != "":
		return parley.Result{}, unusable("is encoded as %s", shorten(response.Header.Get("Content-Encoding")))
	default:
		return readAnswer(response.Header.Get("Content-Type"), body)
	}
}

// readAnswer reads a body of JSON or of plain text.
func readAnswer(contentType string, body []byte) (parley.Result, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return parley.Result{}, nil
	}
	switch kind, _, _ := mime.ParseMediaType(contentType); kind {
	case "application/json":
		return answerJSON(body)
	case "text/plain":
		return parley.Result{Text: postable(string(body))}, nil
	default:
		return parley.Result{}, unusable("is of the type %q", shorten(contentType))
	}
}

func answerJSON(body []byte) (parley.Result, error) {
	var given struct {
		Text  string       `json:"text"`
		Usage parley.Usage `json:"usage"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&given); err != nil {
		return parley.Result{}, unusable("is not as it should be: %s", shorten(err.Error()))
	}
	u := given.Usage
	if u.InputTokens < 0 || u.OutputTokens < 0 || u.Cost < 0 {
		return parley.Result{}, unusable("has a usage below zero")
	}
	return parley.Result{Text: postable(given.Text), Usage: u}, nil
}

// refusal is the failure that a status stands for.
func refusal(response *http.Response, body []byte) *parley.RunError {
	says := "the webhook answered " + shorten(response.Status)
	if quote := shorten(strings.TrimSpace(string(body))); quote != "" {
		says += ": " + quote
	}
	pause, given := retryAfter(response.Header.Get("Retry-After"))
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && given:
		return failed(parley.FailureBusy, pause, "%s", says)
	case status >= 500, status == http.StatusRequestTimeout:
		return failed(parley.FailureServer, pause, "%s", says)
	case status >= 300 && status < 400:
		e := failed(parley.FailureFinal, 0, "%s", says)
		e.Hint = "set the URL to where it leads; only 307 and 308 are followed, at most 3 of them, and never from https to http"
		return e
	default:
		e := failed(parley.FailureFinal, 0, "%s", says)
		e.Hint = "look at the receiver's log"
		return e
	}
}

// retryAfter reads a number of seconds or a date.
func retryAfter(header string) (time.Duration, bool) {
	pause, ok := time.Duration(0), false
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		pause, ok = time.Duration(seconds)*time.Second, true
	} else if at, err := http.ParseTime(header); err == nil {
		pause, ok = time.Until(at), true
	}
	return min(max(pause, 0), maxPause), ok
}

func failed(kind parley.Failure, after time.Duration, format string, args ...any) *parley.RunError {
	return &parley.RunError{Trouble: parley.Trouble{Failure: kind, Reason: fmt.Sprintf(format, args...), After: after}}
}

// unusable is a response that says 200 and has no answer in it that could be read.
func unusable(format string, args ...any) *parley.RunError {
	e := failed(parley.FailureFinal, 0, "the webhook's response "+format, args...)
	e.Hint = `answer with {"text": "…"} as application/json, with text/plain, or with 204; at most 1 MiB, not compressed`
	return e
}

// postable makes a text one that can be posted.
func postable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// shorten is the first part of a text of others, on one line.
func shorten(text string) string {
	text = strings.Join(strings.Fields(postable(text)), " ")
	if runes := []rune(text); len(runes) > maxQuote {
		return string(runes[:maxQuote]) + "…"
	}
	return text
}
