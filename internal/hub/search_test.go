package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// newSearch returns a started hub with arya, ned and a public channel.
func newSearch(t *testing.T, change ...func(*fixture)) *fixture {
	t.Helper()
	w := newHub(t, change...)
	w.Start(ctx)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	return w
}

func (w *fixture) searchAs(who, query string) parley.SearchResult {
	w.T.Helper()
	found, err := w.Search(ctx, as(who), parley.SearchRequest{Query: query})
	w.NoError(err)
	return found
}

// searchSnippets returns the snippets that a participant finds, best first. It waits until the last message is indexed.
func (w *fixture) searchSnippets(who, query string) []string {
	w.T.Helper()
	w.awaitIndex()
	texts := []string{}
	for _, hit := range w.searchAs(who, query).Hits {
		texts = append(texts, hit.Snippet.Text)
	}
	return texts
}

// awaitIndex waits until all messages are indexed. It uses that a search waits for the caller's own last message.
func (w *fixture) awaitIndex() {
	w.T.Helper()
	w.SendDM(parley.Owner, "ned", "settled")
	if w.searchAs(parley.Owner, "settled").Behind {
		w.T.Fatalf("the index does not follow")
	}
}

func TestSearchFindsTextCodeArtifactsAndPayloads(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.PostAs("arya", parley.Draft{Conversation: "open", Content: parley.Content{
		Text: "The deploy of foo_bar.go failed", Code: "panic(needle)", Artifacts: []parley.Artifact{{Path: "/srv/plan-b.md"}},
	}})
	w.PostAs("arya", parley.Draft{
		Conversation: "open", Payload: []byte(`{"message":"人类可读的描述","list":[{"deep":"payload words"}]}`), Metadata: []byte(`{"hidden":"metadata"}`),
	})
	w.SayIn("ned", "open", "ClawOS Agent 通信协议: 消息格式标准 ✅")
	for query, want := range map[string]string{
		"deploy": "The deploy of foo_bar.go failed", "DEPLOY failed": "The deploy of foo_bar.go failed",
		`"deploy of"`: "The deploy of foo_bar.go failed", `"deploy failed"`: "", "depl*": "The deploy of foo_bar.go failed",
		"foo_bar.go": "The deploy of foo_bar.go failed", "bar": "The deploy of foo_bar.go failed", "foobar": "",
		"needle": "panic(needle)", "plan-b.md": "/srv/plan-b.md", "payload words": "payload words", `"描述 payload"`: "",
		"描述": "人类可读的描述", "metadata": "", "hidden": "", "deep": "",
		"通信协议": "ClawOS Agent 通信协议: 消息格式标准 ✅", "协议": "ClawOS Agent 通信协议: 消息格式标准 ✅", "准": "ClawOS Agent 通信协议: 消息格式标准 ✅",
		"准✅": "ClawOS Agent 通信协议: 消息格式标准 ✅",
		"协通": "", "消息标准": "", "消息 标准": "ClawOS Agent 通信协议: 消息格式标准 ✅", "✅": "ClawOS Agent 通信协议: 消息格式标准 ✅",
		"agent -deploy": "ClawOS Agent 通信协议: 消息格式标准 ✅", "agent -消息": "",
	} {
		want := strings.FieldsFunc(want, func(rune) bool { return false })
		same(t, query, w.searchSnippets("arya", query), want)
	}
}

func TestSearchShowsWhere(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	m := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Type: "request", Content: text("请 分配任务 now")}).Message
	same(t, "result", w.searchAs("arya", "分配任务"), parley.SearchResult{Hits: []parley.Hit{{
		Message: m.ID, Seq: m.Seq, Conversation: m.Conversation, Channel: "open", From: "arya", To: "ned", Type: "request", CreatedAt: m.CreatedAt,
		Snippet: parley.Snippet{Field: "text", Text: "请 分配任务 now", Marks: [][2]int{{2, 6}}},
	}}})
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	_, err := w.ChangeAgent(ctx, user, "ned", func(a *parley.Agent) error { a.Name = "LordNed"; return nil })
	w.NoError(err)
	ned, err := w.Agent(ctx, user, "ned")
	w.NoError(err)
	w.CreatePrivateChannel("arya", "secret", "ned")
	w.SayIn("arya", "open", "word from arya")
	asked := w.PostAs("ned", parley.Draft{Conversation: "secret", To: "arya", Type: "request", Content: text("word asked")}).Message
	w.Clock.Advance(48 * time.Hour)
	w.SayIn("ned", "open", "word later @arya")
	w.PostAs("ned", parley.Draft{Conversation: "open", To: "all", Content: text("word for all")})
	for query, want := range map[string][]string{
		"word from:arya":                          {"word from arya"},
		"word from:LORDNED in:#secret":            {"word asked"},
		"word in:SECRET from:" + ned.UUID:         {"word asked"},
		"in:" + asked.Conversation:                {"word asked"},
		"word to:arya":                            {"word later @arya", "word asked"},
		"word to:all":                             {"word for all"},
		"type:request":                            {"word asked"},
		"word before:2026-03-02":                  {"word from arya", "word asked"},
		"word after:2026-03-02":                   {"word for all", "word later @arya"},
		"word after:2026-03-01 before:2026-03-02": {"word from arya", "word asked"},
		"word is:unanswered -all":                 {"word later @arya", "word asked"},
		"word task:task-9":                        {},
	} {
		got := w.searchSnippets("arya", query)
		slices.Sort(got)
		slices.Sort(want)
		same(t, query, got, want)
	}
	w.ReplyAs("arya", asked.ID, "answered")
	same(t, "after the answer", w.searchSnippets("arya", "word is:unanswered -all"), []string{"word later @arya"})
	w.NoError(w.RemoveAgent(ctx, user, "ned"))
	same(t, "from one who was removed", len(w.searchAs("arya", "word from:ned").Hits), 3)
}

func TestSearchByRecipient(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.AddAgents("bran")
	dm := w.SendDM("arya", "ned", "word in a dm").Message
	w.SendDM("ned", "arya", "word back")
	w.PostAs("arya", parley.Draft{Direct: []string{"ned", "bran"}, Content: text("word in a group")})
	w.PostAs("arya", parley.Draft{Ephemeral: true, Direct: []string{"ned"}, Content: text("word between")})
	w.SayIn("arya", "open", "word in a channel")
	found := func(what, query string, want ...string) {
		t.Helper()
		got := w.searchSnippets("arya", query)
		slices.Sort(got)
		slices.Sort(want)
		same(t, what, got, want)
	}
	found("to ned", "word to:ned", "word in a dm", "word in a group", "word between")
	found("to bran", "word to:bran", "word in a group")
	found("to arya", "word to:arya", "word back")
	found("unanswered by ned", "word is:unanswered to:ned", "word in a dm", "word in a group", "word between")
	w.ReplyAs("ned", dm.ID, "answered")
	found("once answered", "word is:unanswered to:ned", "word in a group", "word between")
}

func TestSearchRefusals(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.CreatePrivateChannel("ned", "hidden")
	call := func(query string, cursor *parley.SearchCursor) func() error {
		return func() error {
			_, err := w.Search(ctx, as("arya"), parley.SearchRequest{Query: query, Cursor: cursor})
			return err
		}
	}
	noCursor := refusalError(parley.BadInput, "", "the cursor does not belong to this search", "start without a cursor")
	w.assertRefusals(t, []refusal{
		{"an unknown sender", call("from:arja", nil), notFoundError("agent", "arja", "did you mean arya?")},
		{"an unknown recipient", call("to:nobody x", nil), notFoundError("agent", "nobody", listAgents)},
		{"an unknown conversation", call("in:#opn", nil), notFoundError("conversation", "#opn", "did you mean open?")},
		{"a hidden conversation", call("in:hidden x", nil), notFoundError("conversation", "hidden", listConversations)},
		{"nothing", call(" ", nil), refusalError(parley.BadInput, "", "there is nothing to search for", "give a word, or a filter like from:arya")},
		{"a cursor from nowhere", call("x", &parley.SearchCursor{}), noCursor},
		{"a cursor that goes back", call("x", &parley.SearchCursor{Below: 5, Skip: -1}), noCursor},
	})
}

func TestSearchIsCutToRights(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.AddAgents("bran")
	w.CreatePrivateChannel("arya", "secret", "ned")
	for _, where := range []string{"open", "secret"} {
		w.SayIn("arya", where, "canary in "+where)
	}
	w.SendDM("arya", "ned", "canary in dm")
	w.SendEphemeralDM("arya", "ned", "canary in ephemeral")
	all := []string{"canary in ephemeral", "canary in dm", "canary in secret", "canary in open"}
	for who, want := range map[string][]string{"arya": all, "ned": all, "user": all, "bran": {"canary in open"}} {
		same(t, who, w.searchSnippets(who, "canary"), want)
		same(t, who+" knows of no more", w.searchAs(who, "canary").Next, (*parley.SearchCursor)(nil))
	}
	w.NoError(w.AddMember(ctx, as("arya"), "secret", "bran"))
	same(t, "bran, once added", w.searchSnippets("bran", "canary"), []string{"canary in secret", "canary in open"})
	w.NoError(w.RemoveMember(ctx, as("arya"), "secret", "bran"))
	same(t, "bran, taken out", w.searchSnippets("bran", "canary"), []string{"canary in open"})
	w.NoError(w.DeleteConversation(ctx, user, "secret"))
	without := []string{"canary in ephemeral", "canary in dm", "canary in open"}
	same(t, "after deletion", w.searchSnippets("user", "canary"), without)
	w.NoError(w.Sweep(ctx))
	same(t, "after erasing", w.searchSnippets("user", "canary"), without)
}

func TestSearchRanksAndPages(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.SayIn("arya", "open", "best: word word word")
	for i := range 30 {
		w.SayIn("arya", "open", fmt.Sprint("word ", i))
	}
	w.awaitIndex()
	var got []string
	r := parley.SearchRequest{Query: "word", Limit: 7}
	for pages := 0; ; pages++ {
		found, err := w.Search(ctx, as("arya"), r)
		w.NoError(err)
		for _, hit := range found.Hits {
			got = append(got, hit.Snippet.Text)
		}
		if r.Cursor = found.Next; found.Next == nil {
			same(t, "pages", pages, 4)
			break
		}
		w.SayIn("ned", "open", "word word word word posted meanwhile")
		w.awaitIndex()
	}
	want := []string{"best: word word word"}
	for i := range 30 {
		want = append(want, fmt.Sprint("word ", 29-i))
	}
	same(t, "all pages", got, want)
}

// Beyond what is weighed together, a search goes on with older messages.
func TestSearchGoesOnWithOlderMessages(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	const n = 520
	for i := range n {
		w.SayIn("user", "open", fmt.Sprint("word ", i))
	}
	w.awaitIndex()
	seen := map[int64]bool{}
	for r := (parley.SearchRequest{Query: "word", Limit: 100}); ; {
		found, err := w.Search(ctx, as("arya"), r)
		w.NoError(err)
		for _, hit := range found.Hits {
			seen[hit.Seq] = true
		}
		if r.Cursor = found.Next; found.Next == nil {
			break
		}
	}
	same(t, "messages found", len(seen), n)
}
