package script

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// TestTheExamplesOfTheManual plays the dialogues of docs/runtimes/script.md.
func TestTheExamplesOfTheManual(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runtimes", "script.md"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if played := playDocument(t.Context(), t, string(document)); played != 5 {
			t.Errorf("%d dialogues were played, want 5", played)
		}
	})
}
