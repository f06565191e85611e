package hub_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-hub/parley"
)

func clawDraft(id string) parley.Draft {
	return parley.Draft{
		Type: parley.TypeRequest, Payload: json.RawMessage(`{"action":"task.assign","params":{"text":"Draft it"}}`),
		Metadata: json.RawMessage(`{"clawos":{"id":"` + id + `"}}`),
	}
}

// What was a document of a format departs into a tree of it under its own id, so that its writer knows what is answered.
func TestADocumentKeepsItsID(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutBlackboard, "tree", "gm", "assistant", "worker-1")
	w.arriveFrom("tree", parley.Arrival{Name: "r-1", From: "assistant", To: "gm", Queue: true, Draft: clawDraft("r-1")})
	out := w.onlyDepartureOf("tree")
	same(t, "the request", []string{out.Name, out.Recipient}, []string{"r-1", "gm"})
	w.reportDepartures("tree", parley.DepartureWritten, out)
	w.arriveFrom("tree", parley.Arrival{
		BridgeFile: parley.BridgeFile{Digest: "another"}, Name: "r-1", From: "worker-1", To: "gm", Queue: true, Draft: clawDraft("r-1"),
	})
	second := w.onlyDepartureOf("tree")
	same(t, "the name is taken", second.Name, second.Message.ID)
	for _, id := range []string{"../up", ".hidden", "a/b", ""} {
		w.reportDepartures("tree", parley.DepartureWritten, second)
		draft := clawDraft(id)
		draft.Direct = []string{"gm"}
		w.PostAs("assistant", draft)
		second = w.onlyDepartureOf("tree")
		same(t, "no name of a file: "+id, second.Name, second.Message.ID)
	}
}

// A file of the hub's own never comes back, and one of somebody else's with the same name does come.
func TestADocumentUnderItsIDDoesNotComeBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := w.joinBridge(parley.NewBridge{ID: "tree", Layout: parley.LayoutBlackboard, Agents: []string{"gm", "assistant", "worker-1"}})
	b.arrive(parley.Arrival{
		BridgeFile: parley.BridgeFile{Path: "inbox/r-1.json", Digest: "a"}, Name: "r-1", From: "assistant", To: "gm", Queue: true, At: b.Clock.Now(), Draft: clawDraft("r-1"),
	})
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out)
	file := parley.BridgeFile{Path: "gm/inbox/r-1.json", Digest: "b"}
	ours := parley.Arrival{BridgeFile: file, Name: "r-1", From: "assistant", To: "gm", At: b.Clock.Now(), History: true, Draft: clawDraft("r-1")}
	before := len(b.all())
	same(t, "ours", b.arrive(ours)[0], parley.Arrived{Message: out.Message.ID, Duplicate: true})
	same(t, "nothing came", len(b.all()), before)
	unknown, err := b.Unknown(ctx, "tree", []parley.BridgeFile{file})
	b.NoError(err)
	same(t, "it is known", len(unknown), 0)
	theirs := ours
	theirs.Digest, theirs.From = "c", "worker-1"
	unknown, err = b.Unknown(ctx, "tree", []parley.BridgeFile{theirs.BridgeFile})
	b.NoError(err)
	same(t, "theirs is not", len(unknown), 1)
	b.arriveMessage(theirs)
	w.AssertConsistent()
}

// What answers a document that was posted by another door than a tree names it by the id its writer gave it.
func TestAnAnswerNamesThePostedDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ draft parley.Draft }{
		"with an id":  {clawDraft("r-1")},
		"without one": {parley.Draft{Type: parley.TypeRequest, Payload: json.RawMessage(`{"action":"task.assign","params":{"text":"Draft it"}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("ned")
			w.joinTree(parley.LayoutBlackboard, "tree", "gm")
			c.draft.Direct = []string{"ned"}
			asked := w.PostAs("gm", c.draft).Message.ID
			w.RunAndAnswer("ned", "done")
			want := "r-1"
			if name == "without one" {
				want = asked
			}
			same(t, "what is answered", w.onlyDepartureOf("tree").ReplyTo, want)
		})
	}
}

// What is for everybody has its own id in each inbox, and comes back from none.
func TestABroadcastKeepsItsID(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := w.joinBridge(parley.NewBridge{ID: "tree", Layout: parley.LayoutBlackboard, Agents: []string{"gm", "ana", "ben"}})
	all := parley.Arrival{
		BridgeFile: parley.BridgeFile{Path: "broadcast/inbox/b-1.json", Digest: "a"}, Name: "b-1", From: "gm", To: parley.All, At: b.Clock.Now(),
		Draft: parley.Draft{Type: parley.TypeNotification, Content: text("hear"), Metadata: json.RawMessage(`{"clawos":{"id":"b-1"}}`)},
	}
	m := b.arriveMessage(all)
	out := w.departuresOf("tree")
	same(t, "what departs", namesOf(out), []string{"b-1", "b-1"})
	w.reportDepartures("tree", parley.DepartureWritten, out...)
	for _, to := range []string{"ana", "ben"} {
		file := all
		file.BridgeFile, file.History = parley.BridgeFile{Path: to + "/inbox/b-1.json", Digest: to}, true
		file.Draft.Content = text("hear (cut)")
		same(t, to, b.arrive(file)[0], parley.Arrived{Message: m.ID, Duplicate: true})
	}
}
