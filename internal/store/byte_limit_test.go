package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPagesAreThoseOfTheDocumentation.
func TestPagesAreThoseOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("| one page of messages | %d MiB |", maxPageBytes>>20),
		fmt.Sprintf("| one trace, thread or search | %d MiB |", maxReplyBytes>>20),
		fmt.Sprintf("| one trace, thread or search | %d MiB |", maxSearchBytes>>20),
	} {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/security.md has no row %q", row)
		}
	}
}
