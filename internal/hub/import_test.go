package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hubtest"
)

func (w *fixture) exportEverything() string {
	w.T.Helper()
	var out bytes.Buffer
	w.NoError(w.ExportAll(ctx, user, &out))
	return out.String()
}

// comparable returns the lines of an export without the parts that differ between hubs: positions in the order, checksums, and the
// two participants that every hub has.
func comparable(t tester, export string) []string {
	t.Helper()
	var lines []string
	for text := range strings.Lines(export) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, part := range fields {
			if inner, ok := part.(map[string]any); ok {
				for _, name := range []string{"seq", "last_seq", "checksum"} {
					delete(inner, name)
				}
				if inner["id"] == parley.Owner || inner["id"] == parley.System {
					fields = nil
				}
			}
		}
		delete(fields, "seq")
		delete(fields, "at")
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatalf("%v", err)
		}
		lines = append(lines, string(raw))
	}
	return lines
}

// newEmptyHub returns an empty hub on a kind of store.
func newEmptyHub(t *testing.T, k hubtest.StoreKind) *fixture {
	t.Helper()
	return openFixture(t, k.NewPlace(t), func(w *fixture) { w.Kind = k }, runTwice)
}

// fillWithEverything adds some rows of every kind.
func (w *fixture) fillWithEverything() {
	w.T.Helper()
	w.AddAgents("worker", "boss", "gone")
	w.AddPerson("sansa", parley.AccessMember)
	_, err := w.ChangeAgent(ctx, user, "worker", func(a *parley.Agent) error {
		a.Name, a.Manager, a.Skills = "WorkerBot", "boss", []string{"go"}
		return nil
	})
	w.NoError(err)
	c := w.CreateChannel("user", "general", "worker", "boss", "gone")
	w.CreateGroup("boss", "inner", "worker")
	root := w.SayIn("gone", c.ID, "@worker <b>look</b>").Message
	w.Clock.Advance(time.Second)
	w.ReplyAs("worker", root.ID, "done")
	w.PostAs("user", parley.Draft{
		Direct: []string{"boss", "sansa"}, TraceID: "build-7", TTL: 60, RequiresAck: true, IdempotencyKey: "k", Type: "ha_report",
		Content: parley.Content{Text: "x", Code: "y"}, Payload: json.RawMessage(`{"a":[1.50,"\u2028"]}`), Metadata: json.RawMessage(`{"b":{}}`),
	})
	secret := w.SendDM("user", "worker", "secret").Message
	resultOf[parley.Message](w)(w.Redact(ctx, user, secret.ID, "secret"))
	asked := w.SendEphemeralDM("user", "worker", "one question").Message
	w.ReplyAs("worker", asked.ID, "one answer")
	a := resultOf[parley.Artifact](w)(w.PutArtifact(ctx, user, strings.NewReader("body")))
	a.Name = "notes.txt"
	w.PostAs("user", parley.Draft{Conversation: c.ID, To: parley.All, Content: parley.Content{Artifacts: []parley.Artifact{a}}, Payload: json.RawMessage(`{}`)})
	w.Clock.Advance(time.Minute)
	w.NoError(w.SetTopic(ctx, user, c.ID, "all of it"))
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
}

func TestImportRestoresAnExport(t *testing.T) {
	w := newHub(t)
	w.fillWithEverything()
	exported := w.exportEverything()
	for _, k := range hubtest.StoreKinds {
		t.Run("into "+k.Name, func(t *testing.T) {
			copied := newEmptyHub(t, k)
			report := resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
			lines := int64(strings.Count(exported, "\n"))
			want := parley.ImportReport{
				Lines: lines - 1, Agents: 4, Conversations: 5, Messages: 9, Skipped: 2, BodiesMissing: 1,
			}
			same(t, "the report", report, want)
			again := copied.exportEverything()
			same(t, "the second export", comparable(t, again), comparable(t, exported))
			copied.AssertConsistent()
			same(t, "unread", copied.ConversationAs("boss", "general").Unread, 0)
			same(t, "in the inbox", resultOf[parley.Peeked](copied)(copied.Peek(ctx, as("worker"), 10)).Deliveries, []parley.Delivery(nil))

			report = resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
			same(t, "the report of a repetition", report, parley.ImportReport{Lines: lines - 1, Skipped: lines - 2})
			same(t, "the third export", comparable(t, copied.exportEverything()), comparable(t, again))
			copied.assertAbsentBodyRestored(t)
		})
	}
}

// assertAbsentBodyRestored checks the artifact whose body is not in the export, and stores the body again.
func (w *fixture) assertAbsentBodyRestored(t *testing.T) {
	t.Helper()
	sha256 := ""
	for _, m := range resultOf[[]parley.Message](w)(w.History(ctx, user, "general", parley.Page{})) {
		sha256 += strings.Join(m.Content.Digests(), "")
	}
	if _, _, err := w.OpenArtifact(ctx, as("boss"), sha256); parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("a body that is not there: %v", err)
	}
	resultOf[parley.Artifact](w)(w.PutArtifact(ctx, user, strings.NewReader("body")))
	body, _, err := w.OpenArtifact(ctx, as("boss"), sha256)
	w.NoError(err)
	w.NoError(body.Close())
	w.AssertConsistent()
}

func TestImportOfAnyConversationsGivesThemBack(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	rapid.Check(t, func(r *rapid.T) {
		from := rapid.SampledFrom([]string{"user", "arya", "gendry"})
		for range rapid.IntRange(1, 20).Draw(r, "messages") {
			sender, to := from.Draw(r, "from"), from.Draw(r, "to")
			if sender == to {
				continue
			}
			d := parley.Draft{
				Direct: []string{to}, Ephemeral: rapid.Bool().Draw(r, "ephemeral"),
				Content: parley.Content{Text: "x" + rapid.StringN(0, 20, 60).Draw(r, "text")},
			}
			if strings.Contains(d.Content.Text, "\x00") {
				continue
			}
			w.PostAs(sender, d)
		}
	})
	exported := w.exportEverything()
	copied := newEmptyHub(t, stores)
	resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
	same(t, "the second export", comparable(t, copied.exportEverything()), comparable(t, exported))
	copied.AssertConsistent()
}

func TestImportGoesOnAfterABadLine(t *testing.T) {
	w := newHub(t)
	w.fillWithEverything()
	exported := w.exportEverything()
	lines := slices.Collect(strings.Lines(exported))
	for name, spoil := range map[string]func(string) string{
		"no JSON":      func(string) string { return "{\n" },
		"unknown keys": func(string) string { return `{"massage":{}}` + "\n" },
		"nothing":      func(string) string { return "{}\n" },
		"unknown sender": func(text string) string {
			return strings.Replace(text, `"from":"`, `"from":"nobody-`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			copied := newEmptyHub(t, stores)
			bad := len(lines) - 3 // a message
			broken := slices.Clone(lines)
			broken[bad] = spoil(broken[bad])
			report, err := copied.Import(ctx, user, strings.NewReader(strings.Join(broken, "")))
			if parley.CodeOf(err) != parley.BadInput || !strings.HasPrefix(parley.AsError(err).Message, fmt.Sprintf("line %d: ", bad+1)) {
				t.Fatalf("got %v", err)
			}
			same(t, "lines done", report.Lines, int64(bad))
			same(t, "messages done", report.Messages, int64(7))
			report = resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(exported)))
			same(t, "messages of the second try", report.Messages, int64(2))
			same(t, "the export", comparable(t, copied.exportEverything()), comparable(t, exported))
		})
	}
}

func TestImportRefuses(t *testing.T) {
	w := newHub(t)
	w.fillWithEverything()
	exported := w.exportEverything()
	header, _, _ := strings.Cut(exported, "\n")
	load := func(who, file string) func() error {
		return func() error { _, err := w.Import(ctx, as(who), strings.NewReader(file)); return err }
	}
	const hint = "use a file that parley export wrote"
	for name, c := range map[string]struct {
		call func() error
		want *parley.Error
	}{
		"an agent": {load("worker", exported), refusalError(parley.NotPermitted, "", "only an owner may import a hub", "ask an owner of this hub")},
		"an agent that exports": {
			func() error { return w.ExportAll(ctx, as("worker"), &bytes.Buffer{}) },
			refusalError(parley.NotPermitted, "", "only an owner may export the hub", "ask an owner of this hub"),
		},
		"nothing":   {load("user", ""), refusalError(parley.BadInput, "", "line 1: this is not an export of a hub", hint)},
		"something": {load("user", "{}\n"), refusalError(parley.BadInput, "", "line 1: this is not an export of a hub", hint)},
		"a newer export": {
			load("user", strings.Replace(header, `"version":3`, `"version":4`, 1)),
			refusalError(parley.BadInput, "", "line 1: the export has version 4, but this program reads only versions up to 3", "use the program that wrote it, or a newer one"),
		},
		"a name of another": {
			load("user", header+"\n"+`{"agent":{"id":"other","uuid":"4bf92f35-77b3-4da6-a3ce-929d0e0e4736","name":"boss","kind":"agent",`+
				`"mode":"strict","context_messages":1,"inbox_depth":1,"inbox_overflow":"reject","attempts":1,"concurrency":1}}`+"\n"),
			refusalError(parley.BadInput, parley.Conflict, "line 2: the id, uuid or name of agent other (boss) belongs to another agent here",
				"rename one of the two, and repeat the import"),
		},
		"a channel of another": {
			load("user", header+"\n"+`{"conversation":{"id":"4bf92f35-77b3-4da6-a3ce-929d0e0e4736","name":"general",`+
				`"kind":"channel","visibility":"public","created_by":"user","members":[]}}`+"\n"),
			refusalError(parley.BadInput, parley.Conflict, "line 2: #general: another conversation here has this name or these members",
				"rename or delete the other one, and repeat the import"),
		},
		"a lonely pair": {
			load("user", header+"\n"+`{"conversation":{"id":"4bf92f35-77b3-4da6-a3ce-929d0e0e4736",`+
				`"kind":"dm","visibility":"private","created_by":"user","members":[{"agent":"user"}]}}`+"\n"),
			refusalError(parley.BadInput, "", "line 2: dm 4bf92f35-77b3-4da6-a3ce-929d0e0e4736 has 1 members", hint),
		},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, c.call(), c.want) })
	}
	same(t, "the hub afterwards", comparable(t, w.exportEverything()), comparable(t, exported))
	cut := exported[:strings.LastIndex(strings.TrimSuffix(exported, "\n"), "\n")]
	report := resultOf[parley.ImportReport](w)(w.Import(ctx, user, strings.NewReader(cut)))
	same(t, "the notices of a file that was cut", report.Notices, []string{"the file has no closing line: its last entries may be missing"})
}

func TestImportInManyUpdates(t *testing.T) {
	w := newHub(t)
	c := w.CreateChannel("user", "general")
	for n := range 450 {
		w.SayIn("user", c.ID, fmt.Sprint(n))
	}
	copied := newEmptyHub(t, stores)
	report := resultOf[parley.ImportReport](copied)(copied.Import(ctx, user, strings.NewReader(w.exportEverything())))
	same(t, "messages", report.Messages, int64(450))
	same(t, "the export", comparable(t, copied.exportEverything()), comparable(t, w.exportEverything()))
	same(t, "acts", []string{copied.AuditEntries()[0].Act, copied.AuditEntries()[1].Act}, []string{"hub.import", "hub.imported"})
}
