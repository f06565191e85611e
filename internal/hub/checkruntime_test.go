package hub_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
)

// TestRuntimesAreCheckedWhenTheyAreSet shows when the program around the hub is asked whether an agent can run,
// and that nobody can have it asked who may not set one.
func TestRuntimesAreCheckedWhenTheyAreSet(t *testing.T) {
	var asked []string
	w := newHub(t, func(w *fixture) {
		w.Config.CheckRuntime = func(_ context.Context, a parley.Agent) error {
			asked = append(asked, a.ID+" "+a.Runtime)
			if a.Runtime == "broken" {
				return errors.New("no")
			}
			return nil
		}
	})
	add := func(by, id, runtime string) error {
		_, err := w.AddAgent(t.Context(), as(by), parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: runtime}})
		return err
	}
	set := func(by, id, runtime string) error {
		_, err := w.ChangeAgent(t.Context(), as(by), id, func(a *parley.Agent) error { a.Runtime = runtime; return nil })
		return err
	}
	for what, err := range map[string]error{
		"without a runtime": add("user", "arya", ""), "with one": add("user", "bran", "claude"),
		"attached": add("user", "cersei", parley.RuntimeAttached), "changed": set("user", "arya", "codex"), "not changed": set("user", "bran", "claude"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"broken": add("user", "dany", "broken"), "changed to broken": set("user", "arya", "broken"),
		"added by an agent": add("bran", "eddard", "claude"), "changed by an agent": set("bran", "bran", "codex"),
	} {
		if err == nil {
			t.Errorf("%s: it is let through", what)
		}
	}
	slices.Sort(asked)
	if want := []string{"arya broken", "arya codex", "bran claude", "dany broken"}; !slices.Equal(asked, want) {
		t.Errorf("asked was for %q, want %q", asked, want)
	}
}
