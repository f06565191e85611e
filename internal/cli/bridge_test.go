package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestWhatToDoAboutTheTroubleOfABridge(t *testing.T) {
	const remove = "parley bridge remove tree"
	for trouble, want := range map[string]string{
		"":                                       "",
		"mkdirat .parley: read-only file system": "mount it so that it can be written to",
		"openat channels: permission denied":     "let the user of the hub read and write there",
		"another bridge is at this tree: process 7 on here":                          "end the process that it names, or remove this bridge: " + remove,
		"another bridge is at this tree: the bridge bus, inbox, process 7 on here":   "end the other one, at its hub: parley bridge pause bus",
		"another bridge is at this tree: the bridge tree, inbox, process 7 on there": "end the process that it names, or remove this bridge: " + remove,
		"writing msg_00000001.json: no space left on device":                         "make room on the disk",
		"openat /srv/tree: no such file or directory":                                "put the directory back, or remove the bridge: " + remove,
		"something that nobody has thought of":                                       "look at the tree, and into the log of the hub",
	} {
		v := parley.BridgeView{Bridge: parley.Bridge{ID: "tree"}, Status: parley.BridgeStatus{Trouble: trouble}}
		if got := (&app{program: "parley"}).remedyFor(v); got != want {
			t.Errorf("%q: %q, want %q", trouble, got, want)
		}
	}
}

func TestStateOfABridge(t *testing.T) {
	for want, v := range map[string]parley.BridgeView{
		"paused":      {Bridge: parley.Bridge{Paused: true}, Status: parley.BridgeStatus{Running: true}},
		"running":     {Status: parley.BridgeStatus{Running: true}},
		"waiting":     {Status: parley.BridgeStatus{Running: true, Trouble: "x"}},
		"not running": {Bridge: parley.Bridge{Outside: true}},
		"failing":     {Status: parley.BridgeStatus{Trouble: "x"}},
		"starting":    {},
	} {
		if got := bridgeState(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

const someBridges = `{"items":[
	{"id":"collab","layout":"agentos","root":"/nowhere/collab","status":{"running":true}},
	{"id":"bus","layout":"inbox","root":"/nowhere/bus","status":{"running":true,"trouble":"openat /nowhere/bus: no such file or directory"}},
	{"id":"board","layout":"blackboard","root":"/nowhere/board","paused":true,"status":{}},
	{"id":"far","layout":"inbox","root":"/nowhere/far","outside":true,"status":{}},
	{"id":"near","layout":"inbox","root":"/nowhere/near","status":{"running":true}}]}`

func TestStatusShowsBridges(t *testing.T) {
	newFakeHub(t, map[string]string{"GET /v1/status": `{"version":"1","started_at":"2026-01-02T03:04:05Z"}`, "GET /v1/bridges": someBridges})
	var out, errs strings.Builder
	code := Run([]string{"status"}, strings.NewReader(""), &out, &errs)
	for _, line := range []string{
		"bridges  2 running, 1 waiting, 1 paused, 1 not running\n",
		"bridge  bus is waiting: openat /nowhere/bus: no such file or directory\n",
		"        put the directory back, or remove the bridge: parley bridge remove bus\n",
		"bridge  far does not run\n", "        run it where /nowhere/far is: parley bridge run far\n",
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
		got = append(got, string(f.Verdict)+" "+f.Message+" ("+f.Mend+")")
	}
	want := []string{
		"fail gone: there is no directory " + dir + "/gone that this user can see (put it back, or remove the bridge: parley bridge remove gone)",
		"warn full is waiting: no space left (make room on the disk)",
		"warn far does not run (run it where /nowhere is: parley bridge run far)",
		"ok 2 trees are there and get on ()",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestATreeThatIsElsewhere(t *testing.T) {
	err := mustBeDirectory(filepath.Join(t.TempDir(), "none"))
	if err == nil || !strings.Contains(err.Error(), "there is no directory ") || !strings.Contains(err.Error(), "on the machine that has the tree") {
		t.Errorf("it says %v", err)
	}
}
