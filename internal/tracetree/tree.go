// Package tracetree draws a trace, with its messages, their delivery states and times, and its runs: as a tree for
// people, and as a Mermaid sequence diagram. It consists of pure functions.
package tracetree

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// node is a line of a tree, with the nodes below it.
type node struct {
	line  string
	below []*node
}

// Lines returns a trace as the lines of a tree. Below each message are its deliveries, the runs that it woke with the
// messages that they posted, and its other answers. say returns the line of a message. If the trace was cut, the first
// line says so.
func Lines(t parley.Traced, say func(parley.Shown) string) (lines []string) {
	if t.Cut {
		lines = append(lines, CutText(t))
	}
	for _, top := range buildTree(t, say) {
		lines = top.draw(lines, "", "")
	}
	return lines
}

func (n *node) draw(lines []string, first, rest string) []string {
	lines = append(lines, first+n.line)
	for i, next := range n.below {
		if i == len(n.below)-1 {
			lines = next.draw(lines, rest+"└─ ", rest+"   ")
		} else {
			lines = next.draw(lines, rest+"├─ ", rest+"│  ")
		}
	}
	return lines
}

// buildTree puts each message below the run that posted it, or else below the message that it answers, and each run
// below the delivery that woke it. Everything else is at the top. A node is always below an older one, so there is no
// cycle.
func buildTree(t parley.Traced, say func(parley.Shown) string) (tops []*node) {
	messages, deliveryNodes := map[string]*node{}, map[string]*node{}
	posters := map[string]*node{}
	runs := byTrigger(t)
	draw := func(r parley.RunView) *node {
		run := &node{line: RunText(r.Run)}
		for _, post := range r.Posts {
			posters[post] = run
		}
		return run
	}
	for _, r := range runs[otherTrigger] {
		tops = append(tops, draw(r))
	}
	for _, m := range t.Items {
		n := &node{line: say(m)}
		switch {
		case posters[m.ID] != nil:
			posters[m.ID].below = append(posters[m.ID].below, n)
		case messages[m.InReplyTo] != nil:
			messages[m.InReplyTo].below = append(messages[m.InReplyTo].below, n)
		default:
			tops = append(tops, n)
		}
		messages[m.ID] = n
		for _, d := range m.Deliveries {
			delivery := &node{line: d.Recipient + "  " + DeliveryText(d)}
			n.below = append(n.below, delivery)
			deliveryNodes[m.ID+" "+d.Recipient] = delivery
		}
		for _, r := range runs[m.ID] {
			parent := deliveryNodes[m.ID+" "+r.Agent]
			if parent == nil {
				parent = n
			}
			parent.below = append(parent.below, draw(r))
		}
	}
	return tops
}

// otherTrigger stands for a trigger that is of another trace, or that the reader may not read.
const otherTrigger = ""

// byTrigger groups the runs by the newest shown message that woke each of them.
func byTrigger(t parley.Traced) map[string][]parley.RunView {
	shown := map[string]bool{}
	for _, m := range t.Items {
		shown[m.ID] = true
	}
	runs := map[string][]parley.RunView{}
	for _, r := range t.Runs {
		newest := otherTrigger
		for _, trigger := range r.Triggers {
			if shown[trigger] {
				newest = trigger
			}
		}
		runs[newest] = append(runs[newest], r)
	}
	return runs
}

// CutText says that a trace has more messages than those shown.
func CutText(t parley.Traced) string {
	return fmt.Sprintf("only the newest %d messages are shown, the trace has more", len(t.Items))
}

// DeliveryText returns the states of a delivery, each with the time that it took to reach it.
func DeliveryText(d parley.Delivery) string {
	var steps []string
	at := d.AcceptedAt
	step := func(name string, to *time.Time) {
		if to != nil {
			steps = append(steps, name+" "+formatDuration(to.Sub(at)))
			at = *to
		}
	}
	step("delivered", d.DeliveredAt)
	step("seen", d.SeenAt)
	if d.State != parley.DeliveryAnswered {
		step(string(d.State), d.SettledAt)
	}
	step("answered", d.AnsweredAt)
	if len(steps) == 0 || d.State == parley.DeliveryDead {
		steps = append(steps, string(d.State))
	}
	if d.Attempt > 0 {
		steps = append(steps, fmt.Sprintf("failed attempts: %d", d.Attempt))
	}
	return strings.Join(steps, ", ")
}

// AskText describes the state of an ask, with its duration and its task.
func AskText(a parley.AskState) string {
	words := "ask " + string(a.State)
	if a.EndedAt != nil {
		words += " after " + formatDuration(a.EndedAt.Sub(a.Since))
	}
	if a.Task != "" {
		words += ", " + a.Task
	}
	return words
}

// ApprovalText describes what became of an approval.
func ApprovalText(a parley.TracedApproval) string {
	words := a.Name + " " + string(a.State)
	if a.DecidedBy != "" {
		words += ", decided by " + a.DecidedBy
	}
	return words
}

// RunText describes a run on one line.
func RunText(r parley.Run) string {
	words := []string{r.ShortName() + " of " + r.Agent, string(r.State)}
	if r.EndedAt != nil {
		began := r.CreatedAt
		if r.StartedAt != nil {
			began = *r.StartedAt
		}
		words = append(words, formatDuration(r.EndedAt.Sub(began)))
	}
	if n := r.InputTokens + r.OutputTokens; n > 0 {
		words = append(words, fmt.Sprintf("%d tokens", n))
	}
	if r.Cost > 0 {
		words = append(words, fmt.Sprintf("$%.4f", r.Cost))
	}
	return strings.Join(words, ", ")
}

// formatDuration formats a duration in units that a person can compare.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
