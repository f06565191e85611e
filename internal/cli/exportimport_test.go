package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestAnExportIsCompleteOnlyWithItsEndLine(t *testing.T) {
	const end = `{"end":{"agents":1,"conversations":2,"messages":3}}`
	for text, whole := range map[string]bool{
		"{}\n" + end + "\n": true,
		strings.Repeat("x", 3*maxLineKept) + "\n" + end + "\n": true,
		"{}\n{\"end\":": false,
		"{}\n":          false,
		"":              false,
	} {
		for _, size := range []int{1, 7, len(text) + 1} {
			lines := &exportWriter{w: io.Discard}
			_, _ = io.CopyBuffer(lines, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size))
			got, err := lines.readEnd()
			if whole && (err != nil || got != exportEnd{Agents: 1, Conversations: 2, Messages: 3}) || !whole && parley.CodeOf(err) != parley.DependencyFailed {
				t.Errorf("%d bytes in pieces of %d: %+v, %v", len(text), size, got, err)
			}
		}
	}
}

func TestAnExportNamesDamagedEntries(t *testing.T) {
	const long = `{"seq":1,"content":{"text":"`
	for text, words := range map[string]string{
		"":               "",
		"{\"seq\":17}\n": "",
		"{\"seq\":17,\"content\":{\"text\":\"\\\"damage\\\"\"}}\n":                                        "",
		"{\"seq\":17,\"damage\":{\"code\":\"E006\"}}\n":                                                   "1 message is damaged and could not be exported: 17",
		"{\"damaged\":{\"what\":\"message\",\"seq\":17}}\n{\"end\":{\"damaged\":1}}\n":                    "1 message is damaged and could not be exported: 17",
		"{\"damaged\":{\"what\":\"task\",\"id\":\"task-5\"}}\n{\"seq\":17,\"damage\":{}}\n":               "2 entries are damaged and could not be exported: task task-5, 17",
		"# open\n\nDamaged: message 17 (1-2)\n\n> Damaged: message 18 (1-2)\nDamaged: message 19 (1-2)\n": "2 messages are damaged and could not be exported: 17, 19",
		strings.Repeat("Damaged: message 5 (1-2)\n", 21):                                                  "5, and 1 more",
		long + strings.Repeat("x", 2*maxLineKept) + "\"}}\nDamaged: message 17 (1-2)\n":                   "exported: 17",
	} {
		for _, size := range []int{1, 7, len(text) + 1} {
			lines := &exportWriter{w: io.Discard}
			_, _ = io.CopyBuffer(lines, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size))
			err := lines.damageError()
			if (err == nil) != (words == "") || err != nil && (parley.CodeOf(err) != parley.Internal || !strings.Contains(err.Error(), words)) {
				t.Errorf("%q in pieces of %d: %v", text, size, err)
			}
		}
	}
}
