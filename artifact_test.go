package parley

import (
	"strings"
	"testing"
)

// TestArtifactNamesThatLeadElsewhereAreRefused: a name is saved under by others, and shown in lists and prompts.
func TestArtifactNamesThatLeadElsewhereAreRefused(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for _, name := range []string{
		"../x", "..", ".", "/etc/passwd", "a/b", `a\b`, `..\x`, `C:\x`, "a\nb", "a\rb", "a\tb", "a\x00b", "a\x1bb", "a\u2028b", "a\u0085b", "\u202egpj.exe",
		strings.Repeat("x", 256), "\xff",
	} {
		for _, a := range []Artifact{{Name: name, SHA256: digest}, {Name: name, Path: "p"}} {
			_, err := Draft{Conversation: "c", Content: Content{Artifacts: []Artifact{a}}}.Check(DefaultLimits())
			if CodeOf(err) != BadInput || AsError(err).Suggestion == "" {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, name := range []string{"", "report.pdf", "…", "..x", "a b", "Überblick (1).md", "👩\u200d💻.txt", "-", strings.Repeat("x", 255)} {
		if err := CheckArtifactName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, a := range []Artifact{{Path: "a\nb"}, {Path: "p", MediaType: "text/plain\r\nX: y"}} {
		_, err := Draft{Conversation: "c", Content: Content{Artifacts: []Artifact{a}}}.Check(DefaultLimits())
		if CodeOf(err) != BadInput {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestADigestInUpperCaseIsTheSame(t *testing.T) {
	given := []Artifact{{SHA256: strings.Repeat("AB", 32)}}
	d, err := Draft{Conversation: "c", Content: Content{Artifacts: given}}.Check(DefaultLimits())
	if err != nil || d.Content.Artifacts[0].SHA256 != strings.Repeat("ab", 32) {
		t.Errorf("%+v, %v", d.Content.Artifacts, err)
	}
	if given[0].SHA256 != strings.Repeat("AB", 32) {
		t.Error("the caller's own list was changed")
	}
}
