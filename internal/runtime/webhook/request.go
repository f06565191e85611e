package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/rundoc"
)

const maxURLLength = 2048

// parseConfig parses an agent's runtime_config: {"url": "https://…"}.
func parseConfig(raw json.RawMessage) (*url.URL, error) {
	var config struct {
		URL string `json:"url"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&config); err != nil || config.URL == "" {
		return nil, parley.Errorf(parley.BadInput, "a webhook agent needs a URL, and cannot have other settings").
			Suggest(`give it with --url URL, or as runtime_config {"url": "https://…"}`)
	}
	target, err := url.Parse(config.URL)
	switch {
	case err != nil || len(config.URL) > maxURLLength || target.Hostname() == "":
		return nil, badURL("is not the URL of a webhook")
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, badURL("has the scheme %q", target.Scheme)
	case target.User != nil:
		return nil, badURL("has a user name or password, which others could read")
	case target.Fragment != "":
		return nil, badURL("has a fragment, which is never sent")
	}
	return target, nil
}

func badURL(format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, "the URL "+format, args...).Suggest("use one like https://example.org/hook")
}

func newRequest(target *url.URL, run parley.RunRequest, secret []byte) (*http.Request, error) {
	body, err := rundoc.Encode(run, run.Prompt, &rundoc.Reply{URL: run.URL + "/v1/messages", Token: run.Token})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/plain")
	request.Header.Set("User-Agent", "parley")
	request.Header.Set("Parley-Run", run.Run.ID)
	request.Header.Set("Traceparent", parley.TraceParent(run.Run.TraceID, parley.RunSpan(run.Run.ID)))
	Sign(request, secret, body, time.Now())
	return request, nil
}

// Sign adds a timestamp and a signature to a request. Only a sender that knows the secret can sign a timestamp and a body.
func Sign(request *http.Request, secret, body []byte, at time.Time) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	request.Header.Set("Parley-Timestamp", timestamp)
	request.Header.Set("Parley-Signature", "v1="+signature(secret, timestamp, body))
}

// signature returns the signature of a timestamp and a body.
func signature(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
