package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

func listSessions(ctx context.Context, c *call, _ *noInput) (List[parley.Session], error) {
	return listOf(c.hub.Sessions(ctx, c.caller))
}

// SessionRequest describes a client session to open.
type SessionRequest struct {
	Key    string             `json:"key" doc:"The key, which the client chooses: 1 to 128 letters, digits and the characters . _ : -" example:"8d6c1f0a"`
	Client string             `json:"client,omitempty" doc:"The client's name and version." example:"claude-code 2.1.325"`
	Kind   parley.SessionKind `json:"kind" enum:"stdio,http,hook,chat,watch" doc:"The kind of connection."`
	Wake   parley.SessionWake `json:"wake,omitempty" enum:"none,hook,task,queue,plugin" doc:"How an idle client is woken; default: none."`
}

// openSession opens a connection of a client session, and sends what is new until the client disconnects. The first event is session.
func openSession(w http.ResponseWriter, r *http.Request, c *call, in *bodyInput[SessionRequest]) error {
	if c.local && c.caller.By == "" {
		defer c.options.Attach(r.Context(), c.caller.Agent)()
	}
	begun := false
	_, err := whileValid(r.Context(), c, func(ctx context.Context) (noInput, error) {
		link, err := c.hub.OpenSession(ctx, c.caller, parley.NewSession(in.Body))
		if err != nil {
			return noInput{}, err
		}
		defer func() { _ = link.Close() }() // it always succeeds
		begun = true
		return noInput{}, sendSigns(ctx, w, link)
	})
	if !begun {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the connection can serve another request
	return nil
}

// sendSigns sends the session and then its signs, and a comment after each silence, until the client does not read or ctx is done.
func sendSigns(ctx context.Context, w http.ResponseWriter, link parley.SessionStream) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if err := sendBlock(w, "session", encode(link.Session())); err != nil {
		return err
	}
	for {
		quiet, cancel := context.WithTimeout(ctx, heartbeat)
		sign, err := link.Next(quiet)
		silent := quiet.Err() != nil
		cancel()
		switch {
		case err == nil:
			err = sendBlock(w, "sign", encode(sign))
		case silent && ctx.Err() == nil:
			err = sendBlock(w, "", nil)
		}
		if err != nil {
			return err
		}
	}
}

// sendBlock sends one server-sent event without an id, or a comment if it has no kind.
func sendBlock(w http.ResponseWriter, kind string, data []byte) error {
	b := buffers.Get().(*bytes.Buffer)
	defer putBuffer(b)
	if kind == "" {
		b.WriteString(":\n\n")
	} else {
		b.WriteString("event: " + kind + "\ndata: ")
		b.Write(data)
		b.WriteString("\n\n")
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime)) // only a real connection has one
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return control.Flush()
}
