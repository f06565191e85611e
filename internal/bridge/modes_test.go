package bridge

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// A tree that people share by a group stays shared: who may write into a folder may do so in those that the bridge makes in it,
// and who may list it reads what is written there, whatever the mask of the hub's process is.
func TestNewFilesHaveThePermissionsOfTheTree(t *testing.T) {
	mask := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(mask) })
	for tree, want := range map[os.FileMode]struct{ folder, document, log os.FileMode }{
		0o755: {0o755, 0o644, 0o644}, 0o775: {0o775, 0o644, 0o664}, 0o777 | os.ModeSticky: {0o777 | os.ModeSticky, 0o644, 0o664},
		0o700: {0o700, 0o600, 0o600}, 0o750: {0o750, 0o640, 0o640}, 0o775 | os.ModeSetgid: {0o775 | os.ModeSetgid, 0o644, 0o664},
	} {
		t.Run(tree.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, parley.LayoutInbox)
				s.must(os.Chmod(s.dir, tree))
				d := toCoder
				d.ID, d.Message.Type, d.Message.Content.Text = "1", parley.TypeChat, "hello"
				s.during(func() {
					s.hub.send(d)
					s.polls(2)
				})
				s.must(s.inFolder("", func(f *folder) error { return f.appendLine("error.log", "a line") }))
				for at, mode := range map[string]os.FileMode{
					"state": want.folder, coderInbox: want.folder, "error.log": want.log, ownFolder + "/lock": want.document,
					coderInbox + "/" + d.Name + ".json": want.document, "state/agents/ana/.sequences/coder": want.document,
				} {
					info, err := os.Stat(s.at(at))
					s.must(err)
					if got := info.Mode() &^ os.ModeDir; got != mode {
						t.Errorf("%s has %s, want %s", at, got, mode)
					}
				}
			})
		})
	}
}
