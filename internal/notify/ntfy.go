package notify

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// ntfyWay publishes notifications to a topic of an ntfy server.
type ntfyWay struct {
	client *http.Client
	Ntfy
}

func (t ntfyWay) name() string { return hashedName("ntfy", t.URL) }

// ntfyPublication is the body of a request to the root URL of an ntfy server.
type ntfyPublication struct {
	Topic    string   `json:"topic"`
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Priority int      `json:"priority"`
	Click    string   `json:"click,omitempty"`
	Actions  []action `json:"actions,omitempty"`
}

type action struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Clear   bool              `json:"clear"`
}

func (t ntfyWay) send(ctx context.Context, n notification) (string, error) {
	token, err := secretOf(t.TokenFile, t.TokenEnv).read()
	if err != nil {
		return "", shortError(err)
	}
	if t.WithoutLink {
		n.link = ""
	}
	server, name := t.split()
	return "", deliver(ctx, t.client, server, ntfyPublication{
		Topic: name, Title: n.title, Message: n.text, Priority: priority(n.notice.Kind), Click: n.link, Actions: actions(n),
	}, func(r *http.Request, _ []byte) {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	})
}

// priority returns 4 (high) for notices that need a person to act, and 3 (the default of ntfy) for the others.
func priority(kind string) int {
	if kind == parley.NoticeApproval || kind == parley.NoticeAlert {
		return 4
	}
	return 3
}

func actions(n notification) []action {
	if n.link == "" {
		return nil
	}
	list := []action{{Action: "view", Label: "Open", URL: n.link}}
	if !n.canDecideHere() {
		return list
	}
	for _, answer := range [][2]string{{"Approve" + n.approvalLabel(), "approve=1"}, {"Deny" + n.approvalLabel(), "approve=0"}} {
		list = append(list, action{
			Action: "http", Label: answer[0], URL: n.link, Method: http.MethodPost, Body: answer[1], Clear: true,
			Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		})
	}
	return list
}
