package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestBlackboardReadsTheQueueAndTheInboxes(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	for _, dir := range []string{"gm/inbox", "coder/inbox", "Coder_1/inbox", "coder/processed", "tasks/inbox", "shared/inbox", "processed/inbox", ".parley/inbox", "inbox/inbox", "who/inbox", "broadcast/inbox", "docs"} {
		d.mkdir(dir)
	}
	for range 2 {
		same(t, "inlets", d.inletsNow(people), []string{"broadcast/inbox consume all", "coder/inbox copy coder", "gm/inbox consume gm", "inbox consume"})
	}
	slices.Sort(d.said) // the order of the folders is the file system's
	same(t, "said", d.said, []string{
		`WARN: ignoring Coder_1/inbox: "Coder_1" is not an agent of the hub or of this bridge (did you mean coder?)`,
		`WARN: ignoring who/inbox: "who" is not an agent of the hub or of this bridge (to let this agent send: parley bridge set b --agents who)`,
	})
	if found, err := d.inlets(people); err != nil || !found[0].forQueueAgent {
		t.Errorf("the queue comes not first: %+v, %v", found, err)
	}
}

func TestBlackboardQueueIsForNobody(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	d.inletsNow(people)
	for to, queue := range map[string]bool{"": true, "anybody": true, "gm": true, "ana": false, "coder": false, parley.All: false} {
		a := parley.Arrival{To: to}
		if err := d.complete(inlet{forQueueAgent: true, consume: true}, file{}, &a); err != nil || a.Queue != queue || a.To != to || a.History {
			t.Errorf("to %q: %+v, %v", to, a, err)
		}
	}
}

func TestBlackboardMovesArrivedDocumentsToProcessed(t *testing.T) {
	mine := inlet{path: "ana/inbox", agent: "ana", consume: true, limit: clawOSLimit}
	queue := inlet{path: "inbox", forQueueAgent: true, consume: true, limit: clawOSLimit}
	theirs := inlet{path: "coder/inbox", agent: "coder", limit: clawOSLimit}
	d := newLayoutFixture(t, newBlackboardLayout)
	d.write("ana/processed/1.json", "older")
	for _, c := range []struct {
		in   inlet
		name string
		o    outcome
	}{{mine, "1.json", arrived}, {mine, "2.json", expired}, {mine, "3.json", refused}, {queue, "4.json", arrived}, {theirs, "5.json", arrived}} {
		for range 2 { // as after a crash
			if err := d.settle(c.in, d.write(c.in.path+"/"+c.name, "{}"), c.o); err != nil {
				t.Fatal(err)
			}
			if c.name != "1.json" {
				break
			}
		}
	}
	same(t, "files", d.files(""), []string{
		"ana/inbox/3.json", "ana/processed/1.json", "ana/processed/1~2.json", "ana/processed/1~3.json", "ana/processed/2.json",
		"coder/inbox/5.json", "processed/4.json",
	})
	if older := d.read("ana/processed/1.json"); older != "older" {
		t.Errorf("what was processed before was overwritten: %q", older)
	}
	same(t, "said", d.said, []string{"WARN: Expired message: 2, failed"})
}

func TestBlackboardLeavesDocumentsItCannotMove(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	f := d.write("ana/inbox/1.json", "{}")
	if err := os.Symlink(t.TempDir(), filepath.Join(d.dir, "ana/processed")); err != nil {
		t.Fatal(err)
	}
	err := d.settle(inlet{path: "ana/inbox", consume: true, limit: clawOSLimit}, f, arrived)
	if err == nil || !d.has(f.path) {
		t.Errorf("a document went through a link: %v", err)
	}
}

func TestBlackboardDocumentInProcessedCountsAsTaken(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	d.write("coder/inbox/1.json", "{}")
	d.write("coder/processed/1.json", "{}")
	if taken, err := d.wasTaken(parley.Departure{Name: "1", Recipient: "coder"}); !taken || err != nil {
		t.Errorf("%v, %v", taken, err)
	}
}

func TestBlackboardMirrorsTasks(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	one, two := parley.Task{ID: "task-1", Title: "One", Status: parley.TaskActive}, parley.Task{ID: "task-2", Title: "Two", Status: parley.TaskQueued}
	d.pages = map[int64]parley.BridgeTasks{
		0: {Tasks: []parley.Task{one}, UpTo: 5, More: true},
		5: {Tasks: []parley.Task{two}, UpTo: 8},
		8: {UpTo: 8},
	}
	tick := func() {
		t.Helper()
		if err := d.tick(t.Context(), people); err != nil {
			t.Fatal(err)
		}
	}
	tick()
	same(t, "files", d.files("tasks"), []string{"tasks/task-1.json", "tasks/task-2.json"})
	var shown parley.Task
	if err := json.Unmarshal([]byte(d.read("tasks/task-1.json")), &shown); err != nil || shown.Title != "One" || shown.Status != parley.TaskActive {
		t.Errorf("%+v, %v", shown, err)
	}

	long := time.Unix(1, 0)
	for _, name := range d.files("tasks") {
		if err := os.Chtimes(filepath.Join(d.dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	two.Status = parley.TaskCompleted
	d.pages[5] = parley.BridgeTasks{Tasks: []parley.Task{two}, UpTo: 9}
	d.layout.(*blackboardLayout).mirroredUpTo = 0 // as after a restart
	tick()
	for name, rewritten := range map[string]bool{"tasks/task-1.json": false, "tasks/task-2.json": true} {
		info, err := os.Stat(filepath.Join(d.dir, name))
		if err != nil || info.ModTime().Equal(long) == rewritten {
			t.Errorf("%s was rewritten: want %v, %v", name, rewritten, err)
		}
	}
}

func TestBlackboardMirrorSkipsBlockedTaskFiles(t *testing.T) {
	d := newLayoutFixture(t, newBlackboardLayout)
	d.pages = map[int64]parley.BridgeTasks{0: {Tasks: []parley.Task{{ID: "task-1"}, {ID: "task-2"}}, UpTo: 2}, 2: {UpTo: 2}}
	d.write("tasks/task-1.json/in-the-way", "")
	if err := d.tick(t.Context(), people); err == nil || !d.has("tasks/task-2.json") {
		t.Errorf("the second task is there: %v, %v", d.has("tasks/task-2.json"), err)
	}
	if err := os.RemoveAll(filepath.Join(d.dir, "tasks/task-1.json")); err != nil {
		t.Fatal(err)
	}
	if err := d.tick(t.Context(), people); err != nil || d.read("tasks/task-1.json") == "" {
		t.Error(err)
	}
}
