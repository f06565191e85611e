package chat

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func TestEditing(t *testing.T) {
	for _, test := range []struct {
		text string
		keys string
		want string // | is the cursor
	}{
		{"ab", "left", "a|b"},
		{"ab", "left left left", "|ab"},
		{"ab", "home right", "a|b"},
		{"ab", "left end", "ab|"},
		{"ab", "backspace", "a|"},
		{"ab", "home backspace", "|ab"},
		{"ab", "home delete", "|b"},
		{"one two", "ctrl+w", "one |"},
		{"one two", "alt+left alt+left", "|one two"},
		{"one two", "home alt+right", "one| two"},
		{"one two", "alt+left ctrl+k", "one |"},
		{"one two", "alt+left ctrl+u", "|two"},
		{"a\nb", "ctrl+u", "a\n|"},
		{"a\nb", "up home ctrl+k", "|\nb"},
		{"abc\nd", "up", "a|bc\nd"},
		{"a\nbcd", "up down", "a\nb|cd"},
		{"x👩‍💻", "backspace", "x|"},
		{"e\u0301", "backspace", "|"},
		{"日本", "left", "日|本"},
		{"a", "alt+enter", "a\n|"},
	} {
		t.Run(fmt.Sprintf("%q %s", test.text, test.keys), func(t *testing.T) {
			s := newTestChat(t, newConversation())
			s.tell(tea.PasteMsg{Content: test.text})
			s.press(strings.Fields(test.keys)...)
			if got := s.input.before() + "|" + strings.Join(s.input.text[s.input.cursor:], ""); got != test.want {
				t.Errorf("the box holds %q, want %q", got, test.want)
			}
		})
	}
}

// TestTheScreenFits draws any text at any size: no row is too long, and there are as many as the screen has.
func TestTheScreenFits(t *testing.T) {
	words := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z日👩‍💻\x1b\t ]{1,30}\n?){0,12}`))
	rapid.Check(t, func(rt *rapid.T) {
		conversation := newConversation()
		for range rapid.IntRange(0, 8).Draw(rt, "messages") {
			conversation.put(rapid.SampledFrom([]string{"user", "arya"}).Draw(rt, "from"), words.Draw(rt, "text"))
		}
		s := newTestChat(t, conversation)
		width, height := rapid.IntRange(10, 120).Draw(rt, "width"), rapid.IntRange(9, 60).Draw(rt, "height")
		s.tell(tea.WindowSizeMsg{Width: width, Height: height})
		s.settle()
		s.tell(tea.PasteMsg{Content: words.Draw(rt, "typed")})
		view := s.View()
		rows := strings.Split(view.Content, "\n")
		if len(rows) != height {
			rt.Fatalf("there are %d rows, want %d", len(rows), height)
		}
		for _, row := range rows {
			if got := ansi.StringWidth(row); got > width {
				rt.Fatalf("a row is %d wide, want at most %d: %q", got, width, row)
			}
		}
		if c := view.Cursor; c.X < 0 || c.X >= width || c.Y < 0 || c.Y >= height {
			rt.Fatalf("the cursor is at %d, %d", c.X, c.Y)
		}
	})
}
