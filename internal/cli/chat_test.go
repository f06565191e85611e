package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesAndTextOfAChat(t *testing.T) {
	for _, test := range []struct {
		args  []string
		dash  int
		conv  bool
		names string
		text  string
	}{
		{[]string{"arya"}, -1, false, "arya", ""},
		{[]string{"arya", "gendry"}, -1, false, "arya gendry", ""},
		{[]string{"arya", "hello there"}, -1, false, "arya", "hello there"},
		{[]string{"arya", "gendry", "hello there"}, -1, false, "arya gendry", "hello there"},
		{[]string{"arya", "hello"}, 1, false, "arya", "hello"},
		{[]string{"arya", "-"}, -1, false, "arya", "-"},
		{[]string{"hello there"}, -1, false, "hello there", ""},
		{[]string{"hello"}, -1, true, "", "hello"},
		{nil, -1, true, "", ""},
	} {
		names, text := splitChatArgs(test.args, test.dash, test.conv)
		if !slices.Equal(names, strings.Fields(test.names)) && strings.Join(names, " ") != test.names || strings.Join(text, "|") != test.text {
			t.Errorf("%q means %q and %q, want %q and %q", test.args, names, text, test.names, test.text)
		}
	}
}
