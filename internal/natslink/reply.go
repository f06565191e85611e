package natslink

import (
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
)

// problem is the reply with an error. It has the fields of the HTTP API, without the HTTP status.
type problem struct {
	Type        string         `json:"type"`
	Detail      string         `json:"detail"`
	Code        parley.Code    `json:"code"`
	Reason      parley.Reason  `json:"reason,omitempty"`
	Recoverable bool           `json:"recoverable"`
	Suggestion  string         `json:"suggestion,omitempty"`
	RetryAfter  float64        `json:"retry_after,omitempty"`
	Validation  *parley.Issues `json:"validation,omitempty"`
}

// heldReply is the reply to a message that is pending approval.
type heldReply struct {
	Text     string          `json:"text"`
	Approval parley.Approval `json:"approval"`
}

// reply replies to a request. If the request has no reply subject, it only logs a refusal.
func (in *receiver) reply(m *nats.Msg, receipt parley.Receipt, err error) {
	if err != nil && m.Reply == "" {
		e := parley.AsError(err)
		in.Log.Warn("the hub refused a message from NATS, and cannot tell its sender, which gave no reply subject", "code", e.Code, "error", e.Message, "suggestion", e.Suggestion)
	}
	if m.Reply == "" {
		return
	}
	answer, err := replyMessage(receipt, err, in.conn.MaxPayload())
	if err == nil {
		answer.Subject = m.Reply
		err = in.conn.PublishMsg(answer)
	}
	if err != nil {
		in.Log.Warn("cannot answer a request from NATS", "error", err)
	}
}

// replyMessage returns the reply to a request. If it would be larger than the server allows, it leaves out the contents of the
// request. Without any reply, the client would send the request again.
func replyMessage(receipt parley.Receipt, err error, maxSize int64) (*nats.Msg, error) {
	m := nats.NewMsg("")
	m.Header.Set("Content-Type", "application/json")
	brief := receipt
	brief.Message = withoutBody(receipt.Message)
	full, short := any(receipt), any(brief)
	if held, ok := errors.AsType[*parley.Held](err); ok {
		a := held.Approval
		full = heldReply{parley.HeldText, a}
		a.Call.Args, a.Summary = nil, ""
		short = heldReply{parley.HeldText, a}
	} else if err != nil {
		e := parley.AsError(err)
		m.Header.Set("Content-Type", "application/problem+json")
		m.Header.Set("Parley-Code", string(e.Code))
		full = problem{"about:blank", e.Message, e.Code, e.Reason, e.Recoverable, e.Suggestion, e.RetryAfter.Seconds(), e.Validation}
		short = full
	}
	if m.Data, err = encode(full); err == nil && int64(len(m.Data))+headerRoom > maxSize {
		m.Header.Set(headerCut, "true")
		m.Data, err = encode(short)
	}
	return m, err
}
