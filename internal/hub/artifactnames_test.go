package hub_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestADigestInUpperCaseIsTheSame: it was an internal failure.
func TestADigestInUpperCaseIsTheSame(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	a := w.putArtifactAs("arya", "hello")
	upper := strings.ToUpper(a.SHA256)
	r := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(parley.Artifact{SHA256: upper})})
	same(t, "stored", r.Message.Content.Artifacts, []parley.Artifact{a})
	for _, who := range []string{"arya", "ned", "user"} {
		got, err := w.readArtifactAs(who, upper)
		w.NoError(err)
		same(t, "body for "+who, got, "hello")
	}
	for _, bad := range []string{upper[:63], upper + "0", strings.Repeat("G", 64), "", "../" + upper} {
		_, err := w.readArtifactAs("user", bad)
		w.AssertCode(parley.BadInput, err)
	}
	w.AssertConsistent()
}

// TestArtifactNamesThatLeadElsewhereAreRefused: in messages, contacts and documents of trees.
func TestArtifactNamesThatLeadElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	a := w.putArtifactAs("arya", "hello")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutAgentOS, Agents: []string{"codex"}, Channels: []string{"general"}})
	for _, name := range []string{"../x", "..", "/etc/x", `a\b`, "a\nb", "a\x00b", strings.Repeat("x", 256)} {
		a.Name = name
		_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(a)})
		w.AssertCode(parley.BadInput, err)
		for _, pattern := range []parley.Pattern{parley.PatternAsk, parley.PatternDelegate, parley.PatternNotify} {
			_, err := w.Contact(ctx, as("arya"), parley.Contact{Pattern: pattern, Agent: "ned", Message: "x", Artifacts: []parley.Artifact{a}})
			w.AssertCode(parley.BadInput, err)
		}
		document := b.document("codex", "user", "see")
		document.Draft.Content.Artifacts = []parley.Artifact{{Path: "shared/x", Name: name}}
		if got := b.arrive(document)[0]; got.Error == nil || got.Error.Code != parley.BadInput || got.Message != "" {
			t.Errorf("a document with a file called %q: %+v", name, got)
		}
	}
	w.AssertConsistent()
}
