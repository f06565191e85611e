package cli

import (
	"regexp"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpOfSettings: an abbreviation keeps its letters, and a placeholder has no comma.
func TestHelpOfSettings(t *testing.T) {
	for doc, want := range map[string]string{"HTTP headers.": "HTTP headers", "A file.": "a file", "The `name`.": "the name"} {
		if got := asHelp(doc); got != want {
			t.Errorf("%q: %q", doc, got)
		}
	}
	flags := 0
	(&app{}).upCommand().Flags().VisitAll(func(f *pflag.Flag) {
		flags++
		if kind := f.Value.Type(); regexp.MustCompile(`[, ]$|^$`).MatchString(kind) || regexp.MustCompile(`^[a-z][A-Z]`).MatchString(f.Usage) {
			t.Errorf("--%s %s  %s", f.Name, kind, f.Usage)
		}
	})
	if flags < 50 {
		t.Errorf("only %d flags", flags)
	}
}
