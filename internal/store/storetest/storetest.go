// Package storetest has tests for every implementation of storage.Store. They use no database directly. A store that passes them
// implements the interfaces of package storage correctly.
package storetest

import (
	"testing"

	"github.com/parley-hub/parley/internal/storage"
)

// Run runs the whole suite. open returns an empty store that is closed when its test has ended.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Update", updateTests},
		{"Concurrency", concurrencyTests},
		{"View", viewTests},
		{"Refusals", refusalTests},
		{"Agents", agentTests},
		{"Conversations", conversationTests},
		{"ConversationList", conversationListTests},
		{"Deletion", deletionTests},
		{"Members", memberTests},
		{"Messages", messageTests},
		{"Pages", pageTests},
		{"Keys", keyTests},
		{"Deliveries", deliveryTests},
		{"DeliveryChanges", deliveryChangeTests},
		{"Queue", queueTests},
		{"Inboxes", inboxTests},
		{"Search", searchTests},
		{"SearchModel", searchModelTests},
		{"Artifacts", artifactTests},
		{"Bounds", boundTests},
		{"Blobs", blobTests},
		{"Tokens", tokenTests},
		{"Runs", runTests},
		{"RunLists", runListTests},
		{"RunRecords", runRecordTests},
		{"RunErasure", runErasureTests},
		{"Loops", loopTests},
		{"Waits", waitTests},
		{"Sessions", sessionTests},
		{"Tasks", taskTests},
		{"TaskTrees", taskTreeTests},
		{"Permissions", permissionTests},
		{"Approvals", approvalTests},
		{"TaskErasure", taskErasureTests},
		{"Names", nameTests},
		{"Notes", noteTests},
		{"Notices", noticeTests},
		{"Bridges", bridgeTests},
		{"BridgeFiles", bridgeFileTests},
		{"Departures", departureTests},
		{"Control", controlTests},
		{"Cursors", cursorTests},
		{"Log", logTests},
		{"Redact", redactTests},
		{"Retention", retentionTests},
		{"Histories", historyTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(&fixture{t, open(t)}) })
			}
		})
	}
}

// test is one test. Its name says what it checks.
type test struct {
	name string
	run  func(*fixture)
}
