package hub_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	largeText = 200 << 10
	oneMiB    = 1 << 20
	slackText = 256 << 10 // the last message of an answer may exceed the bound by its size
)

// crowded returns a hub with a channel of arya and ned and n messages of 200 KiB. Each message replies to the first.
func crowded(t *testing.T, n int) (w *fixture, first parley.Message) {
	t.Helper()
	w = newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	w.SetInboxDepth("ned", 1000, parley.OverflowEvict)
	first = w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text(strings.Repeat("x", largeText))}).Message
	for i := range n - 1 {
		w.PostAs("arya", parley.Draft{
			InReplyTo: first.ID, To: "ned", Content: text(fmt.Sprint("large ", i, " ") + strings.Repeat("x", largeText)),
		})
	}
	w.Start(ctx)
	return w, first
}

func sizeOf(list []parley.Message) (n int) {
	for _, m := range list {
		n += len(m.Content.Text)
	}
	return n
}

// TestAnswersAreBoundedInBytes: whatever one reads, one answer has no more than a stated number of bytes, and what is left
// out comes with the next.
func TestAnswersAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	const n = 40
	w, first := crowded(t, n)
	arya, ned := as("arya"), as("ned")

	history, err := w.History(ctx, arya, "open", parley.Page{Limit: 1000})
	w.NoError(err)
	within(t, "history", sizeOf(history), oneMiB)
	context, err := w.Context(ctx, arya, "open")
	w.NoError(err)
	within(t, "context", sizeOf(context), oneMiB)
	thread, err := w.Thread(ctx, arya, first.ID)
	w.NoError(err)
	within(t, "thread", sizeOf(thread.Items), 4*oneMiB+largeText)
	same(t, "it says so", []any{thread.Cut, thread.Notice}, []any{true, fmt.Sprintf(
		"these are %d messages of the thread, and there may be more: read the threads of the last of them, or the messages of conversation %s after number %d",
		len(thread.Items), first.Conversation, first.Seq)})
	traced, err := w.Trace(ctx, arya, first.TraceID)
	w.NoError(err)
	var messages []parley.Message
	for _, item := range traced.Items {
		messages = append(messages, item.Message)
	}
	within(t, "trace", sizeOf(messages), 4*oneMiB)
	same(t, "it says so", traced.Cut, true)

	var seen int
	for after := int64(0); ; {
		p, err := w.PeekAfter(ctx, ned, after, 500)
		w.NoError(err)
		within(t, "inbox", sizeOf(p.Messages), oneMiB)
		if len(p.Messages) == 0 {
			break
		}
		seen, after = seen+len(p.Messages), p.Messages[len(p.Messages)-1].Seq
	}
	same(t, "all that was looked at", seen, n)
	var taken int
	for {
		got := w.TakeAs("ned", parley.Take{Limit: 500})
		within(t, "take", sizeOf(got.Messages), oneMiB)
		if len(got.Messages) == 0 {
			break
		}
		taken += len(got.Messages)
	}
	same(t, "all that was taken", taken, n)
}

// TestThreadOfManyArtifactsIsCutAndSaysSo: the names of artifacts count too.
func TestThreadOfManyArtifactsIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	first := w.SendDM("arya", "ned", "see these").Message
	var files []parley.Artifact
	for i := range 60 {
		files = append(files, parley.Artifact{Name: "x", Path: fmt.Sprint(i, "/") + strings.Repeat("x/", 490) + "x"})
	}
	for range 80 {
		w.PostAs("ned", parley.Draft{InReplyTo: first.ID, Content: parley.Content{Text: "and these", Artifacts: files}})
	}
	thread := resultOf[parley.Thread](w)(w.Thread(ctx, as("arya"), first.ID))
	if !thread.Cut || thread.Notice == "" || len(thread.Items) > 75 {
		t.Errorf("%d messages, cut %t: %q", len(thread.Items), thread.Cut, thread.Notice)
	}
}

func within(t *testing.T, what string, got, most int) {
	t.Helper()
	if got > most+slackText {
		t.Errorf("%s has %d bytes, at most %d are good", what, got, most)
	}
}

// TestATakeReturnsAMessageThatIsLargerThanTheBound: limits.body may be larger.
func TestATakeReturnsAMessageThatIsLargerThanTheBound(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Limits.Body = 4 * oneMiB })
	w.AddAgents("arya", "ned")
	for range 3 {
		w.SendDM("arya", "ned", strings.Repeat("x", 3*oneMiB))
	}
	for range 3 {
		same(t, "taken", len(w.TakeAs("ned", parley.Take{}).Messages), 1)
	}
}

// TestALargeListIsRefused: a list that cannot be cut is refused, with what to do; owners get it.
func TestALargeListIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for i := range 80 {
		made, err := w.NewTask(ctx, as("arya"), parley.NewTask{Text: fmt.Sprint("task ", i)})
		w.NoError(err)
		_, err = w.UpdateTask(ctx, as("arya"), made.ID, parley.TaskChange{
			Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: strings.Repeat("x", 240<<10)},
		})
		w.NoError(err)
		w.Clock.Advance(time.Second)
	}
	w.assertRefusals(t, []refusal{{"too much at once", func() error {
		_, err := w.Tasks(ctx, as("arya"), parley.TaskFilter{Limit: 1000})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "the answer would exceed 16 MiB", "request fewer items at once with a smaller limit, or one item")}})
	some, err := w.Tasks(ctx, as("arya"), parley.TaskFilter{Limit: 20})
	w.NoError(err)
	all, err := w.Tasks(ctx, user, parley.TaskFilter{Limit: 1000})
	w.NoError(err)
	same(t, "shown", []int{len(some), len(all)}, []int{20, 80})
}

// unread is a body that fails the test if the hub reads from it.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.ErrUnexpectedEOF
}

// TestAnUploadCountsBeforeItsBody: what is over the rate, or over the quota, is refused before anything is read.
func TestAnUploadCountsBeforeItsBody(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 1, Burst: 1} })
	w.AddAgents("arya")
	w.putArtifactAs("arya", "one")
	_, err := w.PutArtifact(ctx, as("arya"), unread{t})
	if parley.AsError(err).Reason != parley.RateLimited {
		t.Errorf("got %v", err)
	}
	w.Clock.Advance(time.Second)
	w.putArtifactAs("arya", "two") // an upload counts once
}

// TestAnAgentStoresSoMuch: all artifacts of one agent together have a bound, however they come.
func TestAnAgentStoresSoMuch(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Load.Stored = oneMiB })
	w.AddAgents("arya", "ned")
	part := strings.Repeat("x", 600<<10)
	kept := w.putArtifactAs("arya", part)
	over := refusalError(parley.Unavailable, parley.StorageFull, "the artifacts of arya would exceed 1 MiB in total",
		"ask an owner to raise limits.stored in config.yaml, or to let the hub remove old artifacts (retention.artifacts.age)")
	store := func(body string) func() error {
		return func() error { _, err := w.PutArtifact(ctx, as("arya"), strings.NewReader(body)); return err }
	}
	w.assertRefusals(t, []refusal{{"a second one", store("y" + part), over}})
	w.putArtifactAs("arya", part[:400<<10])
	w.assertRefusals(t, []refusal{{"it is full", store(strings.Repeat("z", 25<<10)), over}})
	same(t, "nothing is left of what was refused", len(w.storedBodies()), 2)
	w.putArtifactAs("ned", "y"+part) // each has its own
	w.putArtifactAs(parley.Owner, "owner"+part+part)
	if _, err := w.readArtifactAs("arya", kept.SHA256); err != nil {
		t.Error(err)
	}
}

// TestUploadsAtOnceStayWithinTheQuota: two that fit alone do not fit together.
func TestUploadsAtOnceStayWithinTheQuota(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Load.Stored = oneMiB })
	w.AddAgents("arya")
	first, feed := io.Pipe()
	done := make(chan error, 1)
	go func() { _, err := w.PutArtifact(ctx, as("arya"), first); done <- err }()
	_, err := io.WriteString(feed, strings.Repeat("a", 700<<10))
	w.NoError(err)
	w.putArtifactAs("arya", strings.Repeat("b", 700<<10))
	w.NoError(feed.Close())
	if err := <-done; parley.AsError(err).Reason != parley.StorageFull {
		t.Errorf("got %v", err)
	}
	same(t, "stored", len(w.storedBodies()), 1)
}

// TestConversationsMadeInALoopHaveABound, however they are made; archiving makes room, and owners have none.
func TestConversationsMadeInALoopHaveABound(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })
	w.AddAgents("arya", "ned", "jon")
	w.insertChannels("arya", 2000)
	over := refusalError(parley.Unavailable, "", "arya has created 2000 conversations, which is the limit",
		"archive conversations that you no longer need: parley conv archive")
	w.assertRefusals(t, []refusal{
		{"a channel", func() error {
			_, err := w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "more"})
			return err
		}, over},
		{"a group, by a post", func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned", "jon"}, Content: text("hi")})
			return err
		}, over},
	})
	w.SendDM("arya", "ned", "there is one for each pair")
	w.CreateChannel("ned", "of-ned")
	w.CreateChannel(parley.Owner, "of-the-owner")
	archived := true
	_, err := w.ChangeConversation(ctx, as("arya"), "loop-7", parley.ConversationChange{Archived: &archived})
	w.NoError(err)
	w.CreateChannel("arya", "more")
}

// insertChannels inserts channels of an agent directly into the store, which is faster than a call for each.
func (w *fixture) insertChannels(who string, n int) {
	w.T.Helper()
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		for i := range n {
			err := tx.Conversations().Insert(parley.Conversation{
				ID: uuid.NewString(), Name: fmt.Sprint("loop-", i), Kind: parley.Channel, Visibility: parley.Public, CreatedBy: who,
				CreatedAt: began, UpdatedAt: began,
			})
			if err == nil && i == 7 {
				var c parley.Conversation
				c, err = tx.Conversations().Find("loop-7")
				if err == nil {
					err = tx.Members().Put(parley.Member{Conversation: c.ID, Agent: who, JoinedAt: began})
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestCredentialsMadeInALoopHaveABound: tokens and sign-in links of one person together.
func TestCredentialsMadeInALoopHaveABound(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPerson("sansa", parley.AccessMember)
	sansa := hub.Caller{Agent: "sansa", Scopes: parley.AllScopes()}
	for i := range 100 {
		var err error
		if i%2 == 0 {
			_, _, err = w.NewLink(ctx, sansa, "")
		} else {
			_, err = w.NewToken(ctx, sansa, parley.NewToken{})
		}
		w.NoError(err)
	}
	over := refusalError(parley.Unavailable, "", "sansa has 100 credentials, which is the limit",
		"revoke tokens that nobody needs: parley token list, parley token revoke")
	w.assertRefusals(t, []refusal{
		{"a token", func() error { _, err := w.NewToken(ctx, sansa, parley.NewToken{}); return err }, over},
		{"a link", func() error { _, _, err := w.NewLink(ctx, sansa, ""); return err }, over},
	})
	_, err := w.NewToken(ctx, hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}, parley.NewToken{Agent: "sansa"})
	w.NoError(err)
	w.Clock.Advance(11 * time.Minute) // the links are too old
	_, _, err = w.NewLink(ctx, sansa, "")
	w.NoError(err)
}
