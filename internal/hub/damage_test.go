package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

const forgedWords = "forged words"

// newDamaged returns a started hub with three messages from arya to ned in a channel. The statement damages the second message in
// the store; %d stands for its number.
func newDamaged(t *testing.T, statement string) (w *fixture, list []parley.Message) {
	t.Helper()
	w = newSearch(t)
	for i := range 3 {
		r := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text(fmt.Sprintf("plain words %d", i))})
		list = append(list, r.Message)
	}
	w.awaitIndex()
	w.TakeAs("ned", parley.Take{AtMostOnce: true, Only: []string{w.NewestMessage().ID}})
	w.tamperWithStore(fmt.Sprintf(statement, list[1].Seq))
	return w, list
}

func (w *fixture) tamperWithStore(statement string) {
	w.T.Helper()
	w.NoError(w.Kind.Tamper(w.Place, statement))
}

// wounds are statements that damage the row of a message.
var wounds = map[string]string{
	"its text":      "UPDATE messages SET text = '" + forgedWords + "' WHERE seq = %d",
	"its sender":    "UPDATE messages SET sender = recipient WHERE seq = %d",
	"its time":      "UPDATE messages SET created_at = 9100000000000000000 WHERE seq = %d",
	"its artifacts": "UPDATE messages SET artifacts = 'forged words {' WHERE seq = %d",
	"its priority":  "UPDATE messages SET word = 'forged words' WHERE seq = %d",
}

// names requires that the hub returns a stand-in for a damaged message. The stand-in must name the message, and have none of its
// content.
func names(t *testing.T, where string, got, was parley.Message) {
	t.Helper()
	if got.Damage == nil || parley.CodeOf(got.Damage) != parley.Internal || got.ID != was.ID || got.Seq != was.Seq {
		t.Errorf("%s: message %d is shown as %+v", where, was.Seq, got)
	}
	for _, word := range []string{fmt.Sprint(was.Seq), was.ID} {
		if !strings.Contains(got.Content.Text, word) {
			t.Errorf("%s: %q does not name %s", where, got.Content.Text, word)
		}
	}
	if all := fmt.Sprintf("%+v", got); strings.Contains(all, forgedWords) || strings.Contains(all, "plain words") {
		t.Errorf("%s: the damaged message is served: %s", where, all)
	}
}

func TestDamagedMessageIsNeverServed(t *testing.T) {
	t.Parallel()
	for name, statement := range wounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, list := newDamaged(t, statement)
			bad := list[1]
			read := map[string]func() []parley.Message{
				"history": func() []parley.Message {
					return resultOf[[]parley.Message](w)(w.History(ctx, as("ned"), "open", parley.Page{}))
				},
				"context": func() []parley.Message { return resultOf[[]parley.Message](w)(w.Context(ctx, as("ned"), "open")) },
				"peek":    func() []parley.Message { return resultOf[parley.Peeked](w)(w.Peek(ctx, as("ned"), 0)).Messages },
				"messages": func() []parley.Message {
					found, _, err := w.Messages(ctx, as("ned"), []string{list[0].ID, bad.ID, list[2].ID})
					w.NoError(err)
					return found
				},
			}
			for where, do := range read {
				found := do()
				slices.SortFunc(found, func(a, b parley.Message) int { return int(a.Seq - b.Seq) })
				if len(found) != 3 {
					t.Fatalf("%s: %d messages are shown", where, len(found))
				}
				same(t, where, []string{found[0].Content.Text, found[2].Content.Text}, []string{"plain words 0", "plain words 2"})
				names(t, where, found[1], bad)
			}
			for _, hit := range w.searchAs("ned", "plain").Hits {
				bare := hit.Seq == bad.Seq && !strings.Contains(hit.Snippet.Text, bad.ID)
				if bare || strings.Contains(fmt.Sprintf("%+v", hit), forgedWords) {
					t.Errorf("search: %+v", hit)
				}
			}
			_, err := w.Message(ctx, as("ned"), bad.ID)
			if e := parley.AsError(err); e == nil || e.Code != parley.Internal || !strings.Contains(e.Message, fmt.Sprintf("message %d (%s)", bad.Seq, bad.ID)) {
				t.Errorf("the message alone: %v", err)
			}
		})
	}
}

// awaitDamageAlert waits until the alert about damage is stored, and returns it.
func (w *fixture) awaitDamageAlert() parley.Alert {
	w.T.Helper()
	w.NoError(w.Sweep(ctx))
	status := resultOf[parley.HubStatus](w)(w.Status(ctx, user))
	at := slices.IndexFunc(status.Alerts, func(a parley.Alert) bool { return a.Name == "damage" })
	if at < 0 {
		w.T.Fatalf("there is no alert: %+v", status.Alerts)
	}
	return status.Alerts[at]
}

func TestTakeEndsADamagedDeliveryAndGoesOn(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its text"])
	taken := w.TakeAs("ned", parley.Take{})
	same(t, "taken", []string{taken.Messages[0].ID, taken.Messages[1].ID}, []string{list[0].ID, list[2].ID})
	d := w.DeliveryOf(list[1].ID, "ned")
	if d.State != parley.DeliveryFailed || d.Failure == nil || d.Failure.Code != parley.Internal || !strings.Contains(d.Failure.Message, fmt.Sprintf("message %d", list[1].Seq)) {
		t.Errorf("the damaged delivery is %s: %v", d.State, d.Failure)
	}
	told := w.HubMessagesTo("arya")
	if len(told) != 1 || told[0].Type != parley.TypeError || !strings.Contains(told[0].Content.Text, fmt.Sprintf("message %d (%s)", list[1].Seq, list[1].ID)) {
		t.Errorf("the sender is told %+v", told)
	}
	if a := w.awaitDamageAlert(); !strings.Contains(a.Message, list[1].ID) || strings.Contains(a.Message, forgedWords) {
		t.Errorf("alert: %+v", a)
	}
	events := 0
	for _, e := range follow(t, w.Hub, user, 0, w.LastEventNumber()) {
		if e.Kind == parley.EventAlert {
			events++
		}
	}
	same(t, "alerts told", events, 1)
}

// A take that finds nothing but damage looks for more at once.
func TestTakePassesDamageByWithoutWaiting(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its text"])
	w.tamperWithStore(fmt.Sprintf(wounds["its text"], list[0].Seq))
	taken := w.TakeAs("ned", parley.Take{Limit: 1})
	same(t, "taken", taken.Messages[0].ID, list[2].ID)
	same(t, "left", len(w.TakeAs("ned", parley.Take{}).Messages), 0)
}

func TestFetchAtMostOnceTellsTheSenderOfDamage(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its text"])
	taken := w.TakeAs("ned", parley.Take{AtMostOnce: true})
	same(t, "taken", len(taken.Messages), 2)
	if told := w.HubMessagesTo("arya"); len(told) != 1 || !strings.Contains(told[0].Content.Text, list[1].ID) {
		t.Errorf("the sender is told %+v", told)
	}
}

func TestDamagedDeliveryRowIsHandedToNobody(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, "UPDATE deliveries SET agent = (SELECT num FROM agents WHERE id = 'user') WHERE message = %d")
	peeked := resultOf[parley.Peeked](w)(w.Peek(ctx, user, 0))
	same(t, "peeked", len(peeked.Messages), 1)
	if got := peeked.Messages[0]; got.Damage == nil || strings.Contains(got.Content.Text, "plain words") {
		t.Errorf("the other's message is shown: %+v", got)
	}
	taken := w.TakeAs("user", parley.Take{})
	same(t, "taken by another", len(taken.Messages), 0)
	same(t, "its state", w.DeliveryOf(list[1].ID, "user").State, parley.DeliveryFailed)
	same(t, "taken by its own", len(w.TakeAs("ned", parley.Take{}).Messages), 2)
}

func TestDamagedTriggerStartsNoRun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddScriptAgents("bran")
	w.AddAgents("arya")
	bad, good := w.SendDM("arya", "bran", "one").Message, w.SendDM("arya", "bran", "two").Message
	w.tamperWithStore(fmt.Sprintf(wounds["its text"], bad.Seq))
	a := w.StartRun("bran")
	same(t, "triggers", a.Run.Triggers, []string{good.ID})
	same(t, "the damaged one", w.DeliveryState(bad.ID, "bran"), parley.DeliveryFailed)
	c := resultOf[parley.RunContext](w)(w.RunContext(ctx, a.Run.ID))
	for _, m := range c.History {
		if m.ID == bad.ID {
			names(t, "the prompt", m, bad)
		}
	}
	if told := w.HubMessagesTo("arya"); len(told) != 1 {
		t.Errorf("the sender is told %+v", told)
	}
}

func TestAskWithADamagedRequestFails(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddScriptAgents("bran")
	ask := w.beginAsk(user, "bran", "what is it?")
	w.tamperWithStore(fmt.Sprintf(wounds["its text"], w.NewestMessage().Seq))
	same(t, "a run", w.NextRunOf("bran") == nil, true)
	if <-ask.done; ask.err == nil || !strings.Contains(ask.err.Error(), "checksum") {
		t.Errorf("the asker is told %+v, %v", ask.made, ask.err)
	}
}

func TestDelegationWithADamagedRequestFails(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddScriptAgents("bran")
	made := resultOf[parley.Contacted](w)(w.Contact(ctx, user, parley.Contact{Pattern: parley.PatternDelegate, Agent: "bran", Message: "do it"}))
	w.tamperWithStore(fmt.Sprintf(wounds["its text"], w.NewestMessage().Seq))
	same(t, "a run", w.NextRunOf("bran") == nil, true)
	view := resultOf[parley.TaskView](w)(w.Task(ctx, user, made.Task))
	if view.Status != parley.TaskFailed || view.Error == nil || !strings.Contains(view.Error.Message, "checksum") {
		t.Errorf("the task is %s: %v", view.Status, view.Error)
	}
}

func TestExportNamesADamagedMessageAndImportReportsIt(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its text"])
	export := w.exportEverything()
	if strings.Contains(export, forgedWords) {
		t.Fatalf("the export has the damaged text:\n%s", export)
	}
	for _, words := range []string{`{"damaged":{"what":"message","seq":` + fmt.Sprint(list[1].Seq) + `,"id":"` + list[1].ID, `"damaged":1}}`} {
		if !strings.Contains(export, words) {
			t.Errorf("the export does not say %s:\n%s", words, export)
		}
	}
	other := newEmptyHub(t, stores)
	report, err := other.Import(ctx, user, strings.NewReader(export))
	w.NoError(err)
	same(t, "imported", []int64{report.Messages, report.Damaged}, []int64{int64(strings.Count(export, "\n{\"message\":")), 1})
	if all := strings.Join(report.Notices, "\n"); !strings.Contains(all, fmt.Sprintf("message %d (%s) is missing", list[1].Seq, list[1].ID)) {
		t.Errorf("notices: %s", all)
	}
}

// What was changed in the file of an export is refused by its line.
func TestImportRefusesALineWithAWrongChecksum(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.PostAs("arya", parley.Draft{Conversation: "open", Content: text("plain words")})
	export := strings.Replace(w.exportEverything(), "plain words", forgedWords, 1)
	before, _, _ := strings.Cut(export, forgedWords)
	line := 1 + strings.Count(before, "\n")
	other := newEmptyHub(t, stores)
	_, err := other.Import(ctx, user, strings.NewReader(export))
	if e := parley.AsError(err); e == nil || e.Code != parley.BadInput || !strings.Contains(e.Message, fmt.Sprintf("line %d", line)) || !strings.Contains(e.Message, "checksum") {
		t.Errorf("got %v, want line %d refused", err, line)
	}
}

func TestStreamNamesADamagedMessage(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its time"])
	for _, e := range follow(t, w.Hub, as("ned"), 0, w.LastEventNumber()) {
		if _, err := e.At.MarshalJSON(); err != nil {
			t.Errorf("event %d cannot be sent: %v", e.Num, err)
		}
	}
	found, _, err := w.Messages(ctx, as("ned"), []string{list[1].ID})
	w.NoError(err)
	names(t, "the stream", found[0], list[1])
}

func TestDeepCheckListsEveryDamagedRowAndGoesOn(t *testing.T) {
	t.Parallel()
	w, list := newDamaged(t, wounds["its artifacts"])
	w.tamperWithStore(fmt.Sprintf(wounds["its priority"], list[0].Seq))
	w.tamperWithStore(fmt.Sprintf("UPDATE deliveries SET pair_seq = pair_seq + 7 WHERE message = %d", list[2].Seq))
	report, err := w.Store.CheckDeep(ctx, nil)
	w.NoError(err)
	all := strings.Join(report.Problems, "\n")
	for _, words := range []string{
		fmt.Sprintf("message %d (%s): ", list[0].Seq, list[0].ID), fmt.Sprintf("message %d (%s): ", list[1].Seq, list[1].ID),
		fmt.Sprintf("a delivery of message %d (%s): ", list[2].Seq, list[2].ID),
	} {
		if !strings.Contains(all, words) {
			t.Errorf("%q is not in:\n%s", words, all)
		}
	}
}

func TestDamagedArtifactIsNeverServedWhole(t *testing.T) {
	t.Parallel()
	small, large := strings.Repeat("a", 1000), strings.Repeat("0123456789", 40_000)
	for name, c := range map[string]struct {
		body  string
		spoil func(string) []byte
		words string
	}{
		"small":           {small, flipped, "does not match its digest"},
		"large":           {large, flipped, "does not match its digest"},
		"small truncated": {small, cutShort, "bytes, not 1000"},
		"large truncated": {large, cutShort, "bytes, not 400000"},
		"missing":         {small, func(string) []byte { return nil }, "its body is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya")
			a := w.putArtifactAs("arya", c.body)
			w.spoilBody(a.SHA256, c.spoil(c.body))
			body, _, err := w.OpenArtifact(ctx, as("arya"), a.SHA256)
			var got []byte
			if err == nil {
				if len(c.body) <= 256<<10 {
					t.Error("a small body is verified while it is sent")
				}
				got, err = io.ReadAll(body)
				err = errors.Join(err, body.Close())
			}
			if e := parley.AsError(err); e == nil || e.Code != parley.Internal || !strings.Contains(e.Message, a.SHA256) || !strings.Contains(e.Message, c.words) {
				t.Errorf("got %v", err)
			}
			if len(got) >= len(c.body) {
				t.Error("all of it was served")
			}
			if alert := w.awaitDamageAlert(); !strings.Contains(alert.Message, a.SHA256) {
				t.Errorf("alert: %+v", alert)
			}
		})
	}
}

func flipped(body string) []byte {
	raw := []byte(body)
	raw[len(raw)/2] ^= 1
	return raw
}

func cutShort(body string) []byte { return bytes.Clone([]byte(body)[:len(body)-1]) }

func TestDamagedIdempotencyKeyServesNoOtherMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	keyed := parley.Draft{Direct: []string{"ned"}, Content: text("keyed"), IdempotencyKey: "one"}
	w.PostAs("arya", keyed)
	w.SendDM("arya", "ned", "another")
	w.tamperWithStore("UPDATE idempotency SET message = (SELECT id FROM messages WHERE text = 'another')")
	_, err := w.Post(ctx, as("arya"), keyed)
	if e := parley.AsError(err); e == nil || e.Code != parley.Internal || !strings.Contains(e.Message, `"one" is damaged`) {
		t.Errorf("got %v", err)
	}
	report, err := w.Store.CheckDeep(ctx, nil)
	w.NoError(err)
	if all := strings.Join(report.Problems, "\n"); !strings.Contains(all, `the idempotency key "one" names message`) {
		t.Errorf("problems: %s", all)
	}
}

// A row that cannot be read is listed, and what follows it is looked at.
func TestDeepCheckListsUnreadableRowsAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	w.AddPermission("a", "b", parley.EffectAllow, withApproval)
	var tasks, runs, approvals, tokens []string
	for i := range 3 {
		words := fmt.Sprint("work ", i)
		tasks = append(tasks, w.Delegate(user, "c", words))
		run := w.StartRun("c")
		runs = append(runs, run.Run.ID)
		w.EndRun(run, "done")
		working := w.WakeAndStartRun("a")
		approvals = append(approvals, w.HeldApproval(w.TryContact(working.Caller(), notifyContact("b", words))).ID)
		w.EndRun(working, "I have to ask first")
		tokens = append(tokens, w.MakeToken("a").ID)
	}
	// The check begins with the oldest task, and with the newest of the others.
	for table, wound := range map[string]struct{ bad, later, statement, wrong, words string }{
		"tasks":     {tasks[1], tasks[2], "result = '{'", "ended_at = NULL", "does not agree"},
		"runs":      {runs[1], runs[0], "failure = '{'", "ended_at = NULL", "does not agree"},
		"approvals": {approvals[1], approvals[0], "failure = '{'", "state = 'executed'", "does not agree"},
		"tokens":    {tokens[1], tokens[0], "agent = 9999", "scopes = 'root'", "which do not exist"},
	} {
		w.tamperWithStore(unfounded(table, setRow(table, wound.bad, wound.statement)))
		w.tamperWithStore(setRow(table, wound.later, wound.wrong))
		report, err := w.Store.CheckDeep(ctx, nil)
		w.NoError(err)
		all := strings.Join(report.Problems, "\n")
		if strings.Count(all, wound.bad+": its row cannot be read") != 1 {
			t.Errorf("%s is not listed once:\n%s", wound.bad, all)
		}
		if !strings.Contains(all, wound.later) || !strings.Contains(all, wound.words) {
			t.Errorf("%s is not listed:\n%s", wound.later, all)
		}
	}
}

// setRow returns a statement that changes the row with an id.
func setRow(table, id, change string) string {
	hex := strings.ReplaceAll(id, "-", "")
	key := "id = x'" + hex + "'"
	switch {
	case table == "tasks":
		key = "num = " + strings.TrimPrefix(id, "task-")
	case stores.Name != "SQLite":
		key = `id = '\x` + hex + "'"
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s", table, change, key)
}
