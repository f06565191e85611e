package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestEachTroubleOfABridgeHasARemedy(t *testing.T) {
	const remove = "parley bridge remove tree"
	for trouble, want := range map[string]string{
		"":                                       "",
		"mkdirat .parley: read-only file system": "mount the tree with write permission",
		"openat channels: permission denied":     "give the hub's user permission to read and write the tree",
		"another bridge uses this tree: process 7 on here":                          "stop the process that the message names, or remove this bridge: " + remove,
		"another bridge uses this tree: the bridge bus, inbox, process 7 on here":   "pause the other bridge, at its hub: parley bridge pause bus",
		"another bridge uses this tree: the bridge tree, inbox, process 7 on there": "stop the process that the message names, or remove this bridge: " + remove,
		"writing msg_00000001.json: no space left on device":                        "free space on the disk",
		"openat /srv/tree: no such file or directory":                               "restore the directory, or remove the bridge: " + remove,
		"something that nobody has thought of":                                      "check the tree and the log of the hub",
	} {
		v := parley.BridgeView{Bridge: parley.Bridge{ID: "tree"}, Status: parley.BridgeStatus{Trouble: trouble}}
		if got := (&app{program: "parley"}).bridgeRemedy(v); got != want {
			t.Errorf("%q: %q, want %q", trouble, got, want)
		}
	}
}

func TestStateOfABridge(t *testing.T) {
	for want, v := range map[string]parley.BridgeView{
		"paused":      {Bridge: parley.Bridge{Paused: true}, Status: parley.BridgeStatus{Running: true}},
		"running":     {Status: parley.BridgeStatus{Running: true, Looked: true}},
		"waiting":     {Status: parley.BridgeStatus{Running: true, Trouble: "x"}},
		"not running": {Bridge: parley.Bridge{Outside: true}},
		"stopped":     {Status: parley.BridgeStatus{Stopped: true, Trouble: "x"}},
		"failing":     {Status: parley.BridgeStatus{Trouble: "x"}},
		"looking":     {},
	} {
		if got := bridgeState(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	now := time.Now()
	for _, v := range []parley.BridgeView{{Status: parley.BridgeStatus{Running: true}}, {Bridge: parley.Bridge{Outside: true}, Status: parley.BridgeStatus{Running: true}}} {
		if got := bridgeState(v); got != "looking" {
			t.Errorf("before its first look it is %q", got)
		}
		if v.Status.ScannedAt = &now; bridgeState(v) != "running" {
			t.Errorf("a bridge of an older program is %q", bridgeState(v))
		}
	}
}

// TestBridgeAddSaysWhetherItScannedTheTree: a script must be able to tell that files which it writes now may count as history.
func TestBridgeAddSaysWhetherItScannedTheTree(t *testing.T) {
	const added = `{"id":"collab","layout":"agentos","root":"/r","state":"looking","status":{"running":false}}`
	for name, c := range map[string]struct {
		shown, says string
		code        int
	}{
		"it has looked": {`{"id":"collab","layout":"agentos","root":"/r","state":"running","status":{"running":true,"looked":true}}`, "", exitDone},
		"the time is up": {
			added, "E004: collab was added, but did not finish its first scan of the tree within 30 seconds: files that are in the tree before that scan may count as history " +
				"(check its state: parley bridge show collab)", exitTimedOut,
		},
		"it cannot look": {
			`{"id":"collab","layout":"inbox","root":"/r","state":"failing","status":{"running":false,"trouble":"openat state: permission denied"}}`,
			"E004: collab was added, but cannot scan the tree: openat state: permission denied; files wait until the bridge scans the tree " +
				"(give the hub's user permission to read and write the tree)", exitTimedOut,
		},
		"a part cannot be read": {
			`{"id":"collab","layout":"agentos","root":"/r","state":"waiting","status":{"running":true,"looked":true,"trouble":"openat channels/x: permission denied"}}`,
			"note: the bridge cannot read a part of the tree: openat channels/x: permission denied (give the hub's user permission to read and write the tree)", exitDone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			newFakeHub(t, map[string]string{"POST /v1/bridges": added, "GET /v1/bridges/collab": c.shown})
			var out, errs strings.Builder
			code := Run([]string{"bridge", "add", "agentos", t.TempDir(), "--agents", "codex"}, strings.NewReader(""), &out, &errs)
			if code != c.code || !strings.Contains(errs.String(), c.says) || !strings.Contains(out.String(), "added  collab  /r") {
				t.Errorf("exit code %d, %s%s", code, out.String(), errs.String())
			}
		})
	}
}

// TestBridgeAddIsInterrupted: the bridge was added by then, and the person is told.
func TestBridgeAddIsInterrupted(t *testing.T) {
	newFakeHub(t, map[string]string{"POST /v1/bridges": `{"id":"collab","layout":"agentos","root":"/r","state":"looking","status":{"running":false}}`})
	var out, errs strings.Builder
	code := Run([]string{"bridge", "add", "agentos", t.TempDir(), "--agents", "codex"}, strings.NewReader(""), &out, &errs)
	if code == exitDone || !strings.Contains(errs.String(), "collab was added, but may not have scanned the tree yet; check its state: parley bridge show collab\n") {
		t.Errorf("exit code %d, %s%s", code, out.String(), errs.String())
	}
}

const someBridges = `{"items":[
	{"id":"collab","layout":"agentos","root":"/nowhere/collab","status":{"running":true,"looked":true}},
	{"id":"bus","layout":"inbox","root":"/nowhere/bus","status":{"running":true,"looked":true,"trouble":"openat /nowhere/bus: no such file or directory"}},
	{"id":"board","layout":"blackboard","root":"/nowhere/board","paused":true,"status":{}},
	{"id":"far","layout":"inbox","root":"/nowhere/far","outside":true,"status":{}},
	{"id":"near","layout":"inbox","root":"/nowhere/near","status":{"running":true,"looked":true}}]}`

func TestStatusShowsBridges(t *testing.T) {
	newFakeHub(t, map[string]string{
		"GET /v1/status": `{"version":"1","started_at":"2026-01-02T03:04:05Z"}`, "GET /v1/bridges": someBridges,
		"GET /v1/attention": `{"items":[],"totals":{},"unread":0}`,
	})
	var out, errs strings.Builder
	code := Run([]string{"status"}, strings.NewReader(""), &out, &errs)
	for _, line := range []string{
		"bridges  2 running, 1 waiting, 1 paused, 1 not running\n",
		"bridge  bus is waiting: openat /nowhere/bus: no such file or directory\n",
		"        restore the directory, or remove the bridge: parley bridge remove bus\n",
		"bridge  far is not running\n", "        run it on the machine that has /nowhere/far: parley bridge run far\n",
	} {
		if code != exitDone || !strings.Contains(out.String(), line) {
			t.Errorf("exit code %d, %q is missing: %s%s", code, line, out.String(), errs.String())
		}
	}
}

func TestDoctorLooksAtBridges(t *testing.T) {
	d := &doctor{app: &app{program: "parley"}}
	dir := t.TempDir()
	at := func(id, root string, change func(*parley.BridgeView)) parley.BridgeView {
		v := parley.BridgeView{Bridge: parley.Bridge{ID: id, Root: root}, Status: parley.BridgeStatus{Running: true}}
		change(&v)
		return v
	}
	d.checkBridges([]parley.BridgeView{
		at("fine", dir, func(*parley.BridgeView) {}),
		at("gone", filepath.Join(dir, "gone"), func(*parley.BridgeView) {}),
		at("full", dir, func(v *parley.BridgeView) { v.Status.Trouble = "no space left" }),
		at("far", "/nowhere", func(v *parley.BridgeView) { v.Outside, v.Status.Running = true, false }),
		at("farther", "/nowhere", func(v *parley.BridgeView) { v.Outside = true }),
	})
	var got []string
	for _, f := range d.findings {
		got = append(got, string(f.Verdict)+" "+f.Message+" ("+f.Fix+")")
	}
	want := []string{
		"fail gone: there is no directory " + dir + "/gone that this user can see (restore the directory, or remove the bridge: parley bridge remove gone)",
		"warn full is waiting: no space left (free space on the disk)",
		"warn far is not running (run it on the machine that has /nowhere: parley bridge run far)",
		"ok 2 bridges work ()",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestAStoppedBridgeSaysHowToGoOn(t *testing.T) {
	v := parley.BridgeView{Bridge: parley.Bridge{ID: "tree"}, Status: parley.BridgeStatus{Stopped: true, Trouble: ".parley/lock was removed"}}
	what, remedy := (&app{program: "parley"}).bridgeProblem(v)
	if what != "tree is stopped: .parley/lock was removed" || !strings.HasSuffix(remedy, "parley bridge pause tree && parley bridge resume tree") {
		t.Errorf("%q, do this: %q", what, remedy)
	}
}

// TestBridgeAddNamesAgentsWithoutFilesInTheTree: an agent that was there before may live in another tree.
func TestBridgeAddNamesAgentsWithoutFilesInTheTree(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "state/agents/coder/inbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	newFakeHub(t, map[string]string{
		"GET /v1/agents":   `{"items":[{"id":"coder","runtime":"bridge"},{"id":"tester","runtime":"bridge"},{"id":"ned","runtime":"script"}]}`,
		"POST /v1/bridges": `{"id":"bus","layout":"inbox","root":"` + dir + `","agents":["coder","tester","ned","new"],"status":{}}`,
	})
	var out, errs strings.Builder
	code := Run([]string{"bridge", "add", "inbox", dir, "--agents", "coder,tester,ned,new"}, strings.NewReader(""), &out, &errs)
	if said := errs.String(); code != exitDone || strings.Count(said, "does not live in") != 1 || !strings.Contains(said, "tester does not live in "+dir) {
		t.Errorf("exit code %d: %s%s", code, out.String(), said)
	}
}

func TestATreeThatIsElsewhere(t *testing.T) {
	err := mustBeDirectory(filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.Contains(err.Error(), "there is no directory ") || !strings.Contains(err.Error(), "on the machine that has the tree") {
		t.Errorf("it says %v", err)
	}
}

// TestTheEndOfALogWithALongLine: the line lists thousands of issues of one document, and the others are shown beside it.
func TestTheEndOfALogWithALongLine(t *testing.T) {
	root := t.TempDir()
	log := "first\n" + strings.Repeat("x", 400<<10) + "\nlast\n"
	if err := os.WriteFile(filepath.Join(root, "error.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	got := readLogEnd(parley.BridgeView{Bridge: parley.Bridge{Layout: parley.LayoutInbox, Root: root}})
	if want := []string{"first", strings.Repeat("x", maxLogWidth) + "…", "last"}; !slices.Equal(got, want) {
		t.Errorf("%d lines: %.600q", len(got), got)
	}
}
