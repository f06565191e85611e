package parley_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestAPageThatWasCutIsNotTheLast: what a store leaves out for its size comes with the next page.
func TestAPageThatWasCutIsNotTheLast(t *testing.T) {
	message := func(size int) parley.Message {
		return parley.Message{Content: parley.Content{Text: strings.Repeat("x", size)}}
	}
	for name, test := range map[string]struct {
		list []parley.Message
		last bool
	}{
		"empty":         {nil, true},
		"few":           {[]parley.Message{message(1)}, true},
		"full":          {[]parley.Message{message(1), message(1), message(1)}, false},
		"few but large": {[]parley.Message{message(parley.PageBytes / 4), message(1)}, false},
		"not too large": {[]parley.Message{message(parley.PageBytes / 4)}, true},
	} {
		if got := (parley.Page{Limit: 3}).Last(test.list); got != test.last {
			t.Errorf("%s: last is %v", name, got)
		}
	}
}
