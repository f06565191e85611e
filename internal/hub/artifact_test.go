package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const storeFirst = "store it first, then refer to it"

func (w *fixture) putArtifactAs(who, body string) parley.Artifact {
	w.T.Helper()
	a, err := w.PutArtifact(ctx, as(who), strings.NewReader(body))
	w.NoError(err)
	return a
}

// readArtifactAs reads an artifact as a participant. It returns the body or the error.
func (w *fixture) readArtifactAs(who, sha256 string) (string, error) {
	body, a, err := w.OpenArtifact(ctx, as(who), sha256)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(body)
	if err == nil && int64(len(b)) != a.Size {
		err = fmt.Errorf("%d bytes, said to be %d", len(b), a.Size)
	}
	return string(b), errors.Join(err, body.Close())
}

func (w *fixture) storedBodies() []string {
	w.T.Helper()
	list, err := w.Store.Blobs().List(ctx, "", 10_000)
	w.NoError(err)
	return list
}

func withArtifacts(artifacts ...parley.Artifact) parley.Content {
	return parley.Content{Text: "see", Artifacts: artifacts}
}

func TestArtifactIsStoredReferredToAndRead(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "jon")
	a := w.putArtifactAs("arya", "hello")
	same(t, "artifact", a, parley.Artifact{
		SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", Size: 5,
	})
	empty := w.putArtifactAs("arya", "")
	named := parley.Artifact{Name: "a.txt", MediaType: "text/plain", SHA256: a.SHA256}
	r := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(named, parley.Artifact{Path: "/p"}, empty)})
	named.Size = 5
	same(t, "artifacts of the message", r.Message.Content.Artifacts, []parley.Artifact{named, {Path: "/p"}, empty})
	same(t, "intact", r.Message.Intact(), true)
	shown, err := w.Message(ctx, as("ned"), r.Message.ID)
	w.NoError(err)
	same(t, "stored", shown.Message, r.Message)
	for _, who := range []string{"arya", "ned", "user"} {
		got, err := w.readArtifactAs(who, a.SHA256)
		w.NoError(err)
		same(t, "body for "+who, got, "hello")
	}
	totals, err := w.ArtifactTotals(ctx, user)
	w.NoError(err)
	same(t, "totals", totals, parley.ArtifactTotals{Artifacts: 2, Bytes: 5, Refs: 2})
}

// What somebody has not stored and cannot read looks the same as what does not exist.
func TestDigestOfAnotherIsNoWayToItsBody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "jon")
	w.AddPerson("member", parley.AccessMember)
	secret := w.putArtifactAs("arya", "secret").SHA256
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(parley.Artifact{SHA256: secret})})
	nowhere := strings.Repeat("0", 64)
	var table []refusal
	for _, who := range []string{"jon", "member"} {
		for name, sha256 := range map[string]string{"another's": secret, "nobody's": nowhere} {
			for _, size := range []int64{0, 6, 7} {
				table = append(table, refusal{fmt.Sprint(who, " posts ", name, size), func() error {
					_, err := w.Post(ctx, as(who), parley.Draft{
						Direct: []string{"ned"}, Content: withArtifacts(parley.Artifact{SHA256: sha256, Size: size}),
					})
					return err
				}, notFoundError("artifact", sha256, storeFirst)})
			}
			table = append(table, refusal{who + " opens " + name, func() error {
				_, err := w.readArtifactAs(who, sha256)
				return err
			}, notFoundError("artifact", sha256, storeFirst)})
		}
	}
	w.assertRefusals(t, append(table, refusal{"totals are for owners", func() error {
		_, err := w.ArtifactTotals(ctx, as("jon"))
		return err
	}, refusalError(parley.NotPermitted, "", "only an owner may see what is stored", "ask an owner of this hub")}))
	w.putArtifactAs("jon", "secret") // who has the body has it
	_, err := w.readArtifactAs("jon", secret)
	w.NoError(err)
}

func TestFormerMembersCannotReadArtifacts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	a := w.putArtifactAs("arya", "plan")
	conv := w.CreatePrivateChannel("arya", "plans", "ned").ID
	w.PostAs("arya", parley.Draft{Conversation: conv, Content: withArtifacts(a)})
	w.PostAs("ned", parley.Draft{Conversation: conv, Content: withArtifacts(a)}) // may pass on what it can read
	w.NoError(w.Leave(ctx, as("ned"), conv))
	_, err := w.readArtifactAs("ned", a.SHA256)
	wantError(t, err, notFoundError("artifact", a.SHA256, storeFirst))
}

func TestWrongSizeIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	a := w.putArtifactAs("arya", "hello")
	post := func(size int64) func() error {
		return func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{
				Direct: []string{"ned"}, Content: withArtifacts(parley.Artifact{SHA256: a.SHA256, Size: size}),
			})
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"too large", post(6), refusalError(parley.BadInput, "", "artifact "+a.SHA256+" has 5 bytes, not 6", "leave the size out")},
		{"too small", post(4), refusalError(parley.BadInput, "", "artifact "+a.SHA256+" has 5 bytes, not 4", "leave the size out")},
	})
	w.NoError(post(5)())
}

func TestRefusedBodyLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Limits.Artifact = 10 })
	w.AddAgents("arya")
	put := func(who string, r io.Reader) func() error {
		return func() error {
			_, err := w.PutArtifact(ctx, as(who), r)
			return err
		}
	}
	cut := errors.New("connection lost")
	w.assertRefusals(t, []refusal{
		{"too large", put("arya", strings.NewReader("01234567890")), refusalError(parley.BadInput, parley.TooLarge,
			"an artifact has more than 10 bytes, which is the limit", "split it, or refer to it by a path")},
		{"a stranger's", put("nobody", strings.NewReader("x")), refusalError(parley.NotPermitted, "",
			"nobody is not a participant of this hub", "ask an owner of this hub to add it")},
		{"cut off", put("arya", iotest.ErrReader(cut)), refusalError(parley.Internal, "", "connection lost", "")},
	})
	same(t, "bodies", len(w.storedBodies()), 0)
	same(t, "just fits", w.putArtifactAs("arya", "0123456789").Size, int64(10))
}

// A body whose row is refused is removed again, unless it is somebody's.
func TestBodyWithoutARowIsDiscarded(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 1, Burst: 1} })
	w.AddAgents("arya")
	w.putArtifactAs("user", "known")
	w.putArtifactAs("arya", "first")
	for _, body := range []string{"second", "known"} {
		_, err := w.PutArtifact(ctx, as("arya"), strings.NewReader(body))
		same(t, "reason", parley.AsError(err).Reason, parley.RateLimited)
	}
	same(t, "bodies", len(w.storedBodies()), 2)
	got, err := w.readArtifactAs("user", w.putArtifactAs("user", "known").SHA256)
	w.NoError(err)
	same(t, "body", got, "known")
}

func TestSameKeyWithArtifactReturnsTheFirst(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	draft := parley.Draft{Direct: []string{"ned"}, IdempotencyKey: "k", Content: withArtifacts(w.putArtifactAs("arya", "hello"))}
	first := w.PostAs("arya", draft)
	again := w.PostAs("arya", draft)
	same(t, "message", again.Message, first.Message)
	same(t, "duplicate", again.Duplicate, true)
	totals, err := w.ArtifactTotals(ctx, user)
	w.NoError(err)
	same(t, "references", totals.Refs, int64(1))
}

// counting is a store that counts calls.
type counting struct {
	storage.Store
	views, artifacts *atomic.Int64
}

func (c counting) View(ctx context.Context, fn func(storage.Tx) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, fn)
}

func (c counting) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.Store.Update(ctx, func(tx storage.Tx) error { return fn(countingTx{tx, c.artifacts}) })
}

type countingTx struct {
	storage.Tx
	artifacts *atomic.Int64
}

func (t countingTx) Artifacts() storage.ArtifactStore {
	t.artifacts.Add(1)
	return t.Tx.Artifacts()
}

func TestPostWithoutArtifactsAsksForNone(t *testing.T) {
	t.Parallel()
	var views, artifacts atomic.Int64
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return counting{s, &views, &artifacts} }
	})
	w.AddAgents("arya", "ned")
	body := w.putArtifactAs("arya", "hello")
	for name, c := range map[string]struct {
		content parley.Content
		asks    bool
	}{
		"text":     {text("hello"), false},
		"path":     {withArtifacts(parley.Artifact{Path: "/p"}), false},
		"artifact": {withArtifacts(body), true},
	} {
		views.Store(0)
		artifacts.Store(0)
		w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: c.content})
		same(t, name, views.Load()+artifacts.Load() > 0, c.asks)
	}
}

// A damaged or missing body is never served as if it were whole.
func TestDamagedBodyIsSaid(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"a flipped bit": func(b []byte) []byte { b[2] ^= 1; return b },
		"cut":           func(b []byte) []byte { return b[:3] },
		"longer":        func(b []byte) []byte { return append(b, 0) },
		"gone":          func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t, func(w *fixture) { w.Config.Log = quiet() })
			w.AddAgents("arya")
			a := w.putArtifactAs("arya", "hello")
			w.spoilBody(a.SHA256, damage([]byte("hello")))
			_, err := w.readArtifactAs("arya", a.SHA256)
			same(t, "code", parley.CodeOf(err), parley.Internal)
			if s := parley.AsError(err).Suggestion; !strings.Contains(s, "store the artifact again") {
				t.Errorf("%v suggests %q", err, s)
			}
			w.putArtifactAs("arya", "hello")
			got, err := w.readArtifactAs("arya", a.SHA256)
			w.NoError(err)
			same(t, "mended", got, "hello")
		})
	}
}

func TestLargeBodyIsStreamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	const size = 64 << 20
	a, err := w.PutArtifact(ctx, as("arya"), io.LimitReader(zeros{}, size))
	w.NoError(err)
	same(t, "size", a.Size, int64(size))
	_, err = w.PutArtifact(ctx, as("arya"), io.LimitReader(zeros{}, size+1))
	same(t, "one more", parley.AsError(err).Reason, parley.TooLarge)
	body, _, err := w.OpenArtifact(ctx, as("arya"), a.SHA256)
	w.NoError(err)
	n, err := io.Copy(io.Discard, body)
	w.NoError(errors.Join(err, body.Close()))
	same(t, "read", n, int64(size))
}

// zeros is a reader that never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
