package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestAnExportIsWholeWithItsEnd(t *testing.T) {
	const end = `{"end":{"agents":1,"conversations":2,"messages":3}}`
	for text, whole := range map[string]bool{
		"{}\n" + end + "\n": true,
		strings.Repeat("x", 3*longestEnd) + "\n" + end + "\n": true,
		"{}\n{\"end\":": false,
		"{}\n":          false,
		"":              false,
	} {
		for _, size := range []int{1, 7, len(text) + 1} {
			kept := &tail{w: io.Discard}
			_, _ = io.CopyBuffer(kept, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size))
			got, err := endOf(kept.last)
			if whole && (err != nil || got != exportEnd{Agents: 1, Conversations: 2, Messages: 3}) || !whole && parley.CodeOf(err) != parley.DependencyFailed {
				t.Errorf("%d bytes in pieces of %d: %+v, %v", len(text), size, got, err)
			}
		}
	}
}
