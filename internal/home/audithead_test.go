package home

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley"
)

func TestAuditHeadComesBack(t *testing.T) {
	home := Dir(t.TempDir())
	file := home.AuditHead()
	for _, want := range []parley.AuditHead{{}, {Num: 1, Hash: "aa"}, {Num: 2, Hash: "bb"}} {
		if want.Num > 0 {
			if err := file.Save(want); err != nil {
				t.Fatal(err)
			}
		}
		got, err := home.AuditHead().Load()
		if err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	entries, err := os.ReadDir(string(home))
	if err != nil || len(entries) != 1 {
		t.Fatalf("files %v, %v", entries, err)
	}
	info, err := entries[0].Info()
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestAuditHeadThatWasSpoiltIsAnError(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "{", "empty": "", "no entry": "{}", "no hash": `{"num":7}`} {
		t.Run(name, func(t *testing.T) {
			home := Dir(t.TempDir())
			if err := os.WriteFile(filepath.Join(string(home), "audit.head"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if head, err := home.AuditHead().Load(); parley.CodeOf(err) != parley.Internal || head != (parley.AuditHead{}) {
				t.Errorf("loaded %v, %v", head, err)
			}
		})
	}
}

func TestAuditHeadThatCannotBeSavedStays(t *testing.T) {
	home := Dir(t.TempDir())
	if err := os.Mkdir(filepath.Join(string(home), "audit.head.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := home.AuditHead().Save(parley.AuditHead{Num: 1, Hash: "aa"}); err == nil {
		t.Error("it was saved over a directory")
	}
	if head, err := home.AuditHead().Load(); err != nil || head.Num != 0 {
		t.Errorf("loaded %v, %v", head, err)
	}
}
