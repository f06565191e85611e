package hub

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TestTheBoundsAreThoseOfTheDocumentation.
func TestTheBoundsAreThoseOfTheDocumentation(t *testing.T) {
	load := DefaultLoad()
	for _, row := range []string{
		fmt.Sprintf("| searches of all participants together | %d |", load.AllSearching),
		fmt.Sprintf("| waiting calls of all participants together | %d |", load.AllWaiting),
		fmt.Sprintf("| reads a second; a search counts as %d reads |", access.SearchCost),
		fmt.Sprintf("| one take, one look into the inbox | %d MiB |", inbox.MaxTakeBytes>>20),
		fmt.Sprintf("| one trace, thread or search | %d MiB |", unit.ReadBytes>>20),
		fmt.Sprintf("| what one call reads from the database | %d MiB |", unit.ViewBytes>>20),
		fmt.Sprintf("| channels and groups that one participant has made, not archived | %d |", access.MaxConversations),
		fmt.Sprintf("| tokens, sessions and sign-in links of one person | %d |", access.MaxCredentials),
		fmt.Sprintf("| open approvals of one agent | %d |", approvals.MaxPending),
		fmt.Sprintf("| one note; notes of a participant or a conversation | %d KiB; %d notes and %d KiB |",
			parley.MaxNoteBytes>>10, parley.MaxNotes, parley.MaxMemoryBytes>>10),
		fmt.Sprintf("| notes of one participant in all conversations | %d |", parley.MaxSharedNotes),
	} {
		documented(t, row)
	}
}

// documented requires a row of the table in docs/security.md.
func documented(t *testing.T, row string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), row) {
		t.Errorf("docs/security.md has no row %q", row)
	}
}
