package script

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// TestTheExamplesOfTheManual plays the dialogues of docs/runtimes/script.md.
func TestTheExamplesOfTheManual(t *testing.T) {
	playFile(t, filepath.Join("..", "..", "..", "docs", "runtimes", "script.md"), 4)
}

// TestTheExamplesOfTheProtocol plays the nine examples of the inter-agent communication protocol.
func TestTheExamplesOfTheProtocol(t *testing.T) {
	playFile(t, filepath.Join("testdata", "protocol.md"), 9)
}

func playFile(t *testing.T, path string, dialogues int) {
	t.Helper()
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if played := playDocument(t.Context(), t, string(document)); played != dialogues {
			t.Errorf("%d dialogues were played, want %d", played, dialogues)
		}
	})
}
