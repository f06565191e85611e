package jsonc

import (
	"strings"
	"testing"
)

func TestReadersThatAllowLess(t *testing.T) {
	for text, words := range map[string]string{
		"{\n\"a\": [1] // c\n}":  "line 2: a comment",
		"{\"a\": /* c */ 1}":     "line 1: a comment",
		"{\n\"a\": 1,\n}":        "line 2: a comma behind the last value",
		"{\"a\": [1, 2 , ]}":     "line 1: a comma behind the last value",
		"\xef\xbb\xbf{\"a\": 1}": "line 1: a byte order mark",
	} {
		if err := (Syntax{}).Check([]byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
		}
		if err := Any.Check([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"{}", "{\"a\": [\"//\", {}]}", "{\r\n}\r\n"} {
		if err := (Syntax{}).Check([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
