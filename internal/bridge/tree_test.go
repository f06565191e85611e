package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// treeFixture is a tree in a directory, with a file beside it that nothing may touch.
type treeFixture struct {
	*tree
	t      *testing.T
	dir    string
	canary string
}

func newTreeFixture(t *testing.T) *treeFixture {
	t.Helper()
	over := t.TempDir()
	g := &treeFixture{t: t, dir: filepath.Join(over, "tree"), canary: filepath.Join(over, "canary.json")}
	g.must(os.Mkdir(g.dir, 0o755))
	g.must(os.WriteFile(g.canary, []byte("sings"), 0o600))
	var err error
	g.tree, err = openTree(g.dir)
	g.must(err)
	t.Cleanup(func() {
		g.must(g.close())
		if raw, err := os.ReadFile(g.canary); err != nil || string(raw) != "sings" {
			t.Errorf("the file outside of the tree was touched: %q, %v", raw, err)
		}
	})
	return g
}

func (g *treeFixture) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *treeFixture) at(name string) string { return filepath.Join(g.dir, name) }

// put writes a file in place.
func (g *treeFixture) put(name, text string) {
	g.t.Helper()
	g.must(os.MkdirAll(filepath.Dir(g.at(name)), 0o755))
	g.must(os.WriteFile(g.at(name), []byte(text), 0o600))
}

func (g *treeFixture) text(name string) string {
	g.t.Helper()
	raw, err := os.ReadFile(g.at(name))
	g.must(err)
	return string(raw)
}

// hostile is what is planted as in/x.json, each with what is said of it.
var hostile = map[string]struct {
	plant func(*treeFixture)
	says  string
}{
	"a link to a file outside":  {func(g *treeFixture) { g.must(os.Symlink(g.canary, g.at("in/x.json"))) }, "symbolic link"},
	"a link that leads up":      {func(g *treeFixture) { g.must(os.Symlink("../../canary.json", g.at("in/x.json"))) }, "symbolic link"},
	"a link to a file inside":   {func(g *treeFixture) { g.put("y", "{}"); g.must(os.Symlink("../y", g.at("in/x.json"))) }, "symbolic link"},
	"a link to nothing":         {func(g *treeFixture) { g.must(os.Symlink("nothing", g.at("in/x.json"))) }, "symbolic link"},
	"a hard link":               {func(g *treeFixture) { g.must(os.Link(g.canary, g.at("in/x.json"))) }, "hard link"},
	"a FIFO that nobody writes": {func(g *treeFixture) { g.must(syscall.Mkfifo(g.at("in/x.json"), 0o600)) }, "FIFO"},
	"a socket":                  {func(g *treeFixture) { g.socket("in/x.json") }, "socket"},
	"a directory":               {func(g *treeFixture) { g.must(os.Mkdir(g.at("in/x.json"), 0o755)) }, "directory"},
	"a file of a gigabyte":      {func(g *treeFixture) { g.put("in/x.json", ""); g.must(os.Truncate(g.at("in/x.json"), 1<<30)) }, "larger than"},
	"a file of another's":       {func(g *treeFixture) { g.put("in/x.json", "{}"); g.owners = []uint32{12345} }, "different users"},
}

func (g *treeFixture) socket(name string) {
	g.t.Helper()
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	g.must(err)
	g.t.Cleanup(func() { g.must(os.RemoveAll(short)) })
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	g.must(err)
	g.t.Cleanup(func() { _ = l.Close() })
	g.must(os.Rename(filepath.Join(short, "s"), g.at(name)))
}

func TestHostileFilesAreRefusedWithAReason(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			g := newTreeFixture(t)
			g.must(os.Mkdir(g.at("in"), 0o755))
			c.plant(g)
			_, err := g.read("in/x.json", 1000)
			if why := refusalOf(err); why == nil || !strings.Contains(why.Message, c.says) {
				t.Errorf("it was read: %v", err)
			}
			err = g.inFolder("in", func(f *folder) error { return f.write("x.json", []byte("{}")) })
			if why := refusalOf(err); why == nil && !strings.HasPrefix(name, "a file") {
				t.Errorf("it was written to: %v", err)
			}
			if err := g.inFolder("in", func(f *folder) error { return f.appendLine("x.json", "line") }); refusalOf(err) == nil && !strings.Contains(name, "gigabyte") {
				t.Errorf("a line was added: %v", err)
			}
		})
	}
}

func TestNoFolderIsReachedThroughALink(t *testing.T) {
	for name, plant := range map[string]func(*treeFixture){
		"outside":      func(g *treeFixture) { g.must(os.Symlink(filepath.Dir(g.canary), g.at("a"))) },
		"inside":       func(g *treeFixture) { g.must(os.MkdirAll(g.at("b/in"), 0o755)); g.must(os.Symlink("b", g.at("a"))) },
		"a FIFO":       func(g *treeFixture) { g.must(syscall.Mkfifo(g.at("a"), 0o600)) },
		"a plain file": func(g *treeFixture) { g.put("a", "") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTreeFixture(t)
			plant(g)
			for what, err := range map[string]error{
				"read":  g.inFolder("a/in", func(*folder) error { return nil }),
				"made":  g.inMadeFolder("a/in", func(*folder) error { return nil }),
				"moved": g.move(file{name: "in", path: "a/in"}, "c"),
			} {
				if refusalOf(err) == nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func TestNamesCannotLeadElsewhere(t *testing.T) {
	g := newTreeFixture(t)
	for _, name := range []string{"", ".", "..", "../canary.json", "a/b", "a\x00b"} {
		err := g.inFolder("", func(f *folder) error {
			return errors.Join(f.replace(name, []byte("{}")), f.appendLine(name, "x"), f.remove(name))
		})
		if refusalOf(err) == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if refusalOf(g.inFolder("../", func(*folder) error { return nil })) == nil {
		t.Error("the way up was taken")
	}
}

func TestADocumentIsWrittenOnceAndNeverOverAnother(t *testing.T) {
	g := newTreeFixture(t)
	put := func(text string) error {
		return g.inMadeFolder("in", func(f *folder) error { return f.write("x.json", []byte(text)) })
	}
	g.put("in/x.tmp", "half of what a crash has left")
	for range 2 {
		g.must(put("one"))
	}
	if err := put("other"); refusalOf(err) == nil || g.text("in/x.json") != "one" {
		t.Errorf("another document was overwritten: %v", err)
	}
	if err := put("one, and more"); refusalOf(err) == nil {
		t.Errorf("a longer document was overwritten: %v", err)
	}
	if left, err := os.ReadDir(g.at("in")); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestAMovedFileOverwritesNothing(t *testing.T) {
	g := newTreeFixture(t)
	for _, text := range []string{"one", "two", "three"} {
		g.put("in/x.json", text)
		g.must(g.move(file{name: "x.json", path: "in/x.json"}, "processed"))
	}
	if got := g.text("processed/x.json") + g.text("processed/x~2.json") + g.text("processed/x~3.json"); got != "onetwothree" {
		t.Errorf("moved: %s", got)
	}
	if err := g.move(file{name: "x.json", path: "in/x.json"}, "processed"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is gone was moved: %v", err)
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\r\tc":              "a b  c",
		"\x1b[31mred":            "[31mred",
		"turned \u202e round":    "turned   round",
		"bad \xff":               "bad ?",
		strings.Repeat("é", 600): strings.Repeat("é", 500) + "…",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", text, got, want)
		}
	}
}

// Both directions delete files: what makes room, and what has arrived.
func TestFilesAreDeletedFromBothSidesAtOnce(t *testing.T) {
	g := newTreeFixture(t)
	var files []file
	for n := range 1000 {
		at := fmt.Sprintf("%d/%d.json", n%2, n)
		g.put(at, at)
		found, err := g.read(at, 20)
		g.must(err)
		files = append(files, found)
	}
	var both sync.WaitGroup
	for side := range 2 {
		both.Go(func() {
			for n := side; n < len(files); n += 2 {
				if err := g.consume(files[n]); err != nil {
					t.Errorf("%s: %v", files[n].path, err)
				}
			}
		})
	}
	both.Wait()
	for _, dir := range []string{"0", "1"} {
		left, err := os.ReadDir(g.at(dir))
		g.must(err)
		if len(left) > 0 {
			t.Errorf("%d files are there still, or again", len(left))
		}
	}
}
