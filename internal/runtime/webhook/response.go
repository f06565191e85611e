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
	maxPause        = time.Hour // the longest pause that a Retry-After can request
	maxQuote        = 300       // characters of a response in a failure
)

// readResponse returns the result of a run from a response.
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
		return parley.Result{}, statusFailure(response, body)
	case len(body) > largestResponse:
		return parley.Result{}, unusableResponse("has more than %d bytes", largestResponse)
	case response.Header.Get("Content-Encoding") != "":
		return parley.Result{}, unusableResponse("is encoded as %s", shorten(response.Header.Get("Content-Encoding")))
	default:
		return readAnswer(response.Header.Get("Content-Type"), body)
	}
}

// readAnswer parses a body of JSON or of plain text.
func readAnswer(contentType string, body []byte) (parley.Result, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return parley.Result{}, nil
	}
	switch kind, _, _ := mime.ParseMediaType(contentType); kind {
	case "application/json":
		return answerJSON(body)
	case "text/plain":
		return parley.Result{Text: cleanText(string(body))}, nil
	default:
		return parley.Result{}, unusableResponse("is of the type %q", shorten(contentType))
	}
}

func answerJSON(body []byte) (parley.Result, error) {
	var answer struct {
		Text  string       `json:"text"`
		Usage parley.Usage `json:"usage"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&answer); err != nil {
		return parley.Result{}, unusableResponse("is malformed: %s", shorten(err.Error()))
	}
	u := answer.Usage
	if u.InputTokens < 0 || u.OutputTokens < 0 || u.Cost < 0 {
		return parley.Result{}, unusableResponse("has a negative usage")
	}
	return parley.Result{Text: cleanText(answer.Text), Usage: u}, nil
}

// statusFailure returns the failure that a status means.
func statusFailure(response *http.Response, body []byte) *parley.RunError {
	reason := "the webhook answered " + shorten(response.Status)
	if quote := shorten(strings.TrimSpace(string(body))); quote != "" {
		reason += ": " + quote
	}
	pause, hasPause := retryAfter(response.Header.Get("Retry-After"))
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && hasPause:
		return failed(parley.FailureBusy, pause, "%s", reason)
	case status >= 500, status == http.StatusRequestTimeout:
		return failed(parley.FailureServer, pause, "%s", reason)
	case status >= 300 && status < 400:
		e := failed(parley.FailureFinal, 0, "%s", reason)
		e.Hint = "set the URL to the target of the redirect; the hub follows only 307 and 308, at most 3 of them, and never from https to http"
		return e
	default:
		e := failed(parley.FailureFinal, 0, "%s", reason)
		e.Hint = "see the log of the receiver"
		return e
	}
}

// retryAfter parses the header Retry-After: a number of seconds or a date. It returns false if the header is missing or
// malformed.
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

// unusableResponse returns the failure for a response with status 200 whose answer cannot be read.
func unusableResponse(format string, args ...any) *parley.RunError {
	e := failed(parley.FailureFinal, 0, "the webhook's response "+format, args...)
	e.Hint = `answer with {"text": "…"} as application/json, with text/plain, or with 204; at most 1 MiB, not compressed`
	return e
}

// cleanText removes from a text what the hub does not accept in a message: invalid UTF-8 and NUL characters.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// shorten returns the beginning of a text of a receiver, on one line.
func shorten(text string) string {
	text = strings.Join(strings.Fields(cleanText(text)), " ")
	if runes := []rune(text); len(runes) > maxQuote {
		return string(runes[:maxQuote]) + "…"
	}
	return text
}
