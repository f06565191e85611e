package chat

import (
	"testing"
)

// What is unread is on the first page, so that a chat never marks as seen what it has not loaded.
func TestTheFirstPageHasAllThatIsUnread(t *testing.T) {
	conversation := newConversation()
	for range 120 {
		conversation.put("arya", "hello")
	}
	state, err := conversation.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state.View.Unread = 120
	m := New(t.Context(), conversation, state)
	page, ok := m.pullNext()().(pageMsg)
	if !ok || len(page.list) != 120 {
		t.Errorf("the first page has %d messages", len(page.list))
	}
}
