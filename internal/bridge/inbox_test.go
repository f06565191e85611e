package bridge

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

const coderInbox = "state/agents/coder/inbox"

func TestInboxReadsOnlyInboxesOfKnownAgents(t *testing.T) {
	d := newLayoutFixture(t, newInboxLayout)
	same(t, "an empty tree", d.inletsNow(people), nil)
	for _, dir := range []string{"ana/inbox", "coder/inbox", "stranger/inbox", "parley/.sequences"} {
		d.mkdir("state/agents/" + dir)
	}
	d.write("state/agents/notes.txt", "no agent")
	if err := os.Symlink(filepath.Join(d.dir, "state/agents/ana"), filepath.Join(d.dir, "state/agents/gm")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		same(t, "inlets", d.inletsNow(people), []string{"state/agents/ana/inbox consume ana", "state/agents/coder/inbox copy coder"})
	}
	same(t, "said", d.said, []string{`WARN: ignoring state/agents/stranger/inbox: "stranger" is not an agent of the hub or of this bridge ` +
		`(to let this agent send: parley bridge set b --agents stranger)`})
}

func TestInboxDeletesArrivedDocuments(t *testing.T) {
	mine := inlet{path: "state/agents/ana/inbox", agent: "ana", consume: true, limit: routingLimit}
	theirs := inlet{path: coderInbox, agent: "coder", limit: routingLimit}
	for _, c := range []struct {
		name  string
		in    inlet
		o     outcome
		spoil func(d *layoutFixture, at string)
		stays bool
	}{
		{"the hub's own", mine, arrived, nil, false},
		{"a script's", theirs, arrived, nil, true},
		{"refused", mine, refused, nil, true},
		{"rewritten meanwhile", mine, arrived, func(d *layoutFixture, at string) { d.write(at, "another") }, true},
		{"gone", mine, arrived, func(d *layoutFixture, at string) { _ = os.Remove(filepath.Join(d.dir, at)) }, false},
	} {
		d := newLayoutFixture(t, newInboxLayout)
		at := c.in.path + "/msg_00000001.json"
		f := d.write(at, "{}")
		if c.spoil != nil {
			c.spoil(d, at)
		}
		if err := d.settle(c.in, f, c.o); err != nil && !errors.Is(err, errReplaced) || d.has(at) != c.stays {
			t.Errorf("%s: there %v, %v", c.name, d.has(at), err)
		}
	}
}

// fill puts messages into an inbox, with the times that are given in seconds.
func fill(d *layoutFixture, seconds ...int) {
	d.t.Helper()
	for n, s := range seconds {
		at := fmt.Sprintf("%s/msg_%08x.json", coderInbox, n)
		d.write(at, "{}")
		when := time.Unix(1_700_000_000+int64(s), 0)
		if err := os.Chtimes(filepath.Join(d.dir, at), when, when); err != nil {
			d.t.Fatal(err)
		}
	}
}

var toCoder = parley.Departure{Name: "msg_ffffffff", Recipient: "coder", Sequence: 7, Message: parley.Message{From: "ana"}}

func TestInboxOverflowEvictsTheOldest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for n := inboxDepth - 1; n < inboxDepth+4; n++ {
		seconds := make([]int, n)
		for i := range seconds {
			seconds[i] = random.IntN(10) // so that some are equal
		}
		d := newLayoutFixture(t, newInboxLayout)
		fill(d, seconds...)
		d.write(coderInbox+"/half.tmp", "not counted")
		d.mkdir(coderInbox + "/folder.json")
		if err := d.beforeWrite(t.Context(), toCoder); err != nil {
			t.Fatal(err)
		}
		if n < inboxDepth {
			same(t, "evicted where there was room", d.evicted, nil)
			continue
		}
		oldest := fmt.Sprintf("msg_%08x", slices.Index(seconds, slices.Min(seconds)))
		same(t, "evicted", d.evicted, []string{path.Join(coderInbox, oldest+".json")})
		same(t, "said", d.said, []string{fmt.Sprintf("WARN: Inbox overflow for coder (%d messages), evicted oldest: %s", n, oldest)})
		if left := d.files(coderInbox); len(left) != n || slices.Contains(left, d.evicted[0]) {
			t.Errorf("%d files are left of %d and one", len(left), n)
		}
	}
}

func TestInboxOverflowLosesNothing(t *testing.T) {
	full := make([]int, inboxDepth)
	first := coderInbox + "/msg_00000000.json"
	t.Run("what has not arrived is waited for", func(t *testing.T) {
		d := newLayoutFixture(t, newInboxLayout)
		fill(d, full...)
		d.unknown[first] = true
		err := d.beforeWrite(t.Context(), toCoder)
		if parley.AsError(err).Code != parley.Unavailable || !d.has(first) || len(d.evicted) > 0 {
			t.Errorf("there %v, evicted %q: %v", d.has(first), d.evicted, err)
		}
	})
	t.Run("what was refused is not", func(t *testing.T) {
		d := newLayoutFixture(t, newInboxLayout)
		fill(d, full...)
		d.unknown[first] = true
		d.write(".parley/rejected/msg_00000000.json.reason", fmt.Sprintf(`{"path":%q,"digest":%q}`, first, digest([]byte("{}"))))
		if err := d.beforeWrite(t.Context(), toCoder); err != nil || d.has(first) {
			t.Errorf("there %v: %v", d.has(first), err)
		}
	})
	t.Run("what the hub was not told of stays", func(t *testing.T) {
		d := newLayoutFixture(t, newInboxLayout)
		fill(d, full...)
		d.fails = parley.Errorf(parley.Unavailable, "gone")
		if err := d.beforeWrite(t.Context(), toCoder); err == nil || !d.has(first) {
			t.Errorf("there %v: %v", d.has(first), err)
		}
	})
	t.Run("what can never arrive is passed over", func(t *testing.T) {
		d := newLayoutFixture(t, newInboxLayout)
		fill(d, full...)
		d.write(first, strings.Repeat("x", routingLimit+1))
		if err := os.Chtimes(filepath.Join(d.dir, first), time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := d.beforeWrite(t.Context(), toCoder); err != nil {
			t.Fatal(err)
		}
		same(t, "evicted", d.evicted, []string{coderInbox + "/msg_00000001.json"})
	})
}

// Only its folder tells the name of somebody whose id is cut.
func TestInboxWaitsForAFolderItCannotName(t *testing.T) {
	d := newLayoutFixture(t, newInboxLayout)
	native := strings.Repeat("n", 70)
	id, _ := dialect.AgentID(dialect.Routing, native)
	w := bridgeView{inTree: map[string]bool{id: true}}
	out := parley.Departure{Name: "msg_00000001", Recipient: id, Sequence: 1, Message: parley.Message{
		From: "ana", To: id, Type: parley.TypeChat, CreatedAt: time.Now(), Content: parley.Content{Text: "hello"},
	}}
	d.inletsNow(w)
	if _, err := d.encode(out); parley.CodeOf(err) != parley.Unavailable {
		t.Errorf("it is written somewhere: %v", err)
	}
	d.mkdir("state/agents/" + native)
	d.inletsNow(w)
	raw, err := d.encode(out)
	if err != nil || !strings.Contains(string(raw), native) || d.targetFolder(out) != "state/agents/"+native+"/inbox" {
		t.Errorf("%s in %s: %v", raw, d.targetFolder(out), err)
	}
}

func TestInboxKeepsTheSequencesOfTheHubsOwn(t *testing.T) {
	d := newLayoutFixture(t, newInboxLayout)
	d.inletsNow(people)
	d.write("state/agents/coder/.sequences/ana", "12\n")
	if err := d.afterWrite(t.Context(), toCoder); err != nil {
		t.Fatal(err)
	}
	fromScript := parley.Departure{Recipient: "ana", Sequence: 3, Message: parley.Message{From: "coder"}}
	if err := d.afterWrite(t.Context(), fromScript); err != nil {
		t.Fatal(err)
	}
	same(t, "files", d.files("state"), []string{"state/agents/ana/.sequences/coder", "state/agents/coder/.sequences/ana"})
	if mine, theirs := d.read("state/agents/ana/.sequences/coder"), d.read("state/agents/coder/.sequences/ana"); mine != "7\n" || theirs != "12\n" {
		t.Errorf("the hub's is %q, the script's %q", mine, theirs)
	}
}
