package hub_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestImportRestoresDeletedConversations at once, though what was deleted is erased only now and then.
func TestImportRestoresDeletedConversations(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	gone := w.CreateChannel("user", "gone", "arya")
	w.SayIn("user", gone.ID, "one")
	kept := w.CreateChannel("user", "kept", "arya")
	exported := w.exportEverything()
	w.SayIn("user", kept.ID, "two")
	w.NoError(w.DeleteConversation(ctx, user, gone.ID))
	report := resultOf[parley.ImportReport](w)(w.Import(ctx, user, strings.NewReader(exported)))
	same(t, "brought back", []int64{report.Conversations, report.Messages}, []int64{1, 1})
	same(t, "what it says", resultOf[[]parley.Message](w)(w.History(ctx, user, "gone", parley.Page{}))[0].Content.Text, "one")
	w.AssertConsistent()
}
