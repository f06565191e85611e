package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// layoutFixture is a layout at work on a tree of its own, without the engine.
type layoutFixture struct {
	parley.BridgeHub // what is not overridden is not called
	layout
	t       *testing.T
	dir     string
	said    []string
	evicted []string
	unknown map[string]bool // paths that have not arrived
	pages   map[int64]parley.BridgeTasks
	fails   error
}

func newLayoutFixture(t *testing.T, build func(layoutBase) layout) *layoutFixture {
	t.Helper()
	d := &layoutFixture{t: t, dir: t.TempDir(), unknown: map[string]bool{}}
	tree, err := openTree(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.close() })
	d.layout = build(layoutBase{
		tree: tree, hub: d, id: "b", now: time.Now,
		logf: func(format string, args ...any) { d.said = append(d.said, fmt.Sprintf(format, args...)) },
		onEvict: func(_ context.Context, at string) error {
			if !d.has(at) {
				t.Errorf("%s was removed before the hub was told", at)
			}
			d.evicted = append(d.evicted, at)
			return d.fails
		},
	})
	return d
}

func (d *layoutFixture) Unknown(_ context.Context, _ string, files []parley.BridgeFile) ([]parley.BridgeFile, error) {
	return slices.DeleteFunc(files, func(f parley.BridgeFile) bool { return !d.unknown[f.Path] }), d.fails
}

func (d *layoutFixture) BridgeTasks(_ context.Context, _ string, after int64) (parley.BridgeTasks, error) {
	return d.pages[after], d.fails
}

func (d *layoutFixture) has(at string) bool {
	_, err := os.Lstat(filepath.Join(d.dir, at))
	return err == nil
}

func (d *layoutFixture) read(at string) string {
	d.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.dir, at))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

func (d *layoutFixture) write(at, text string) file {
	d.t.Helper()
	full := filepath.Join(d.dir, at)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return file{name: filepath.Base(at), path: at, raw: []byte(text), digest: digest([]byte(text))}
}

func (d *layoutFixture) mkdir(at string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.dir, at), 0o755); err != nil {
		d.t.Fatal(err)
	}
}

// files lists all files below a folder, with slashes.
func (d *layoutFixture) files(at string) (list []string) {
	d.t.Helper()
	err := filepath.WalkDir(filepath.Join(d.dir, at), func(p string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			below, _ := filepath.Rel(d.dir, p)
			list = append(list, filepath.ToSlash(below))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	return list
}

// inletsNow polls, and shows what is read as "path consume|copy".
func (d *layoutFixture) inletsNow(w bridgeView) (list []string) {
	d.t.Helper()
	found, err := d.inlets(w)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, in := range found {
		how := "copy"
		if in.consume {
			how = "consume"
		}
		list = append(list, strings.TrimSpace(in.path+" "+how+" "+in.agent))
	}
	slices.Sort(list)
	return list
}

// people: ana and gm are the hub's, coder lives in the tree.
var people = bridgeView{
	bridge: parley.Bridge{QueueAgent: "gm"},
	ofHub:  map[string]bool{"ana": true, "gm": true},
	inTree: map[string]bool{"coder": true},
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestCompletedMail(t *testing.T) {
	mine, theirs := inlet{agent: "ana", consume: true}, inlet{agent: "coder"}
	expires := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		in      inlet
		to      string
		want    string // to whom it is, or the error
		history bool
	}{
		{"pending mail", mine, "ana", "ana", false},
		{"for whose inbox it is", mine, "", "ana", false},
		{"for all", mine, parley.All, parley.All, false},
		{"between scripts", theirs, "coder", "coder", true},
		{"astray", mine, "coder", "E003", false},
		{"for one among what is for all", inlet{agent: parley.All, consume: true}, "ana", "E003", false},
	} {
		for _, build := range []func(layoutBase) layout{newInboxLayout, newBlackboardLayout} {
			a := parley.Arrival{To: c.to, ExpiresAt: expires}
			err := newLayoutFixture(t, build).complete(c.in, file{}, &a)
			got := a.To
			if err != nil {
				got = string(parley.AsError(err).Code)
			}
			if got != c.want || a.History != c.history || c.history != a.ExpiresAt.IsZero() {
				t.Errorf("%s: %s, history %v, expires %v: %v", c.name, got, a.History, a.ExpiresAt, err)
			}
		}
	}
}

func TestARemovedDocumentCountsAsTaken(t *testing.T) {
	for _, build := range []func(layoutBase) layout{newInboxLayout, newBlackboardLayout} {
		d := newLayoutFixture(t, build)
		departure := parley.Departure{Name: "msg_00000001", Recipient: "coder"}
		at := d.targetFolder(departure) + "/msg_00000001.json"
		taken := func(step string, want bool) {
			t.Helper()
			if got, err := d.wasTaken(departure); got != want || err != nil {
				t.Errorf("%s: %v, %v", step, got, err)
			}
		}
		taken("the inbox is not there", false)
		d.write(at, "{}")
		taken("it is there", false)
		if err := os.Remove(filepath.Join(d.dir, at)); err != nil {
			t.Fatal(err)
		}
		taken("it is gone", true)
	}
}
