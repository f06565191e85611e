// Package anima reads the conversation store of the Anima format, a SQLite database, and writes its content as the lines of
// an export. It derives ids from what they identify, so that a repeated import adds only what is new. The database may
// have a draft of the schema: the package fills in missing columns, ignores unknown ones, and never writes to the file.
package anima

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/parley-hub/parley"
)

// exportLine is a line of an export, with the fields that a conversation store can fill.
type exportLine struct {
	Parley       string              `json:"parley,omitempty"`
	Version      int                 `json:"version,omitempty"`
	Agent        *parley.Agent       `json:"agent,omitempty"`
	Conversation *exportConversation `json:"conversation,omitempty"`
	Message      *parley.Message     `json:"message,omitempty"`
	End          *exportEnd          `json:"end,omitempty"`
}

type exportConversation struct {
	parley.Conversation
	Members []exportMember `json:"members"`
}

type exportMember struct {
	Agent    string    `json:"agent"`
	JoinedAt time.Time `json:"joined_at"`
}

type exportEnd struct {
	Agents        int `json:"agents"`
	Conversations int `json:"conversations"`
	Messages      int `json:"messages"`
}

// exportVersion is the version of the export lines.
const exportVersion = 2

// reader reads one database and writes export lines.
type reader struct {
	db            *sql.DB
	out           *json.Encoder
	hub           *hubState
	conversations map[string]*sourceConversation // by id in the database
	order         []*sourceConversation          // oldest first
	end           exportEnd
	empty         int      // number of messages without a text
	skipped       []string // why messages were left out
	store         func(context.Context, io.Reader) (parley.Artifact, error)
}

// Hub is the state of the hub that imports the lines.
type Hub struct {
	Conversations []parley.ConversationView // unnamed conversations are added to the one that has the same members
	Agents        []parley.Agent            // found by id and name
	// Store stores a text that is too long for a message. E003 if the text is too long for an artifact too.
	Store func(context.Context, io.Reader) (parley.Artifact, error)
}

// Exported says what Export left out or changed.
type Exported struct {
	Notices []string
	Skipped []string // why each message with a text was left out
}

// Export writes the conversations of a database as the lines of an export. E003 if the file is not a database of Anima.
func Export(ctx context.Context, file string, to Hub, w io.Writer) (done Exported, err error) {
	db, closeCopy, err := openCopy(ctx, file)
	if err != nil {
		return done, err
	}
	defer closeCopy()
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	r := &reader{db: db, out: out, hub: newHubState(to), conversations: map[string]*sourceConversation{}, store: to.Store}
	for _, step := range []func(context.Context) error{r.readConversations, r.writeHeader, r.writeAgents, r.writeConversations, r.writeMessages} {
		if err := step(ctx); err != nil {
			return done, err
		}
	}
	return Exported{r.notices(), r.skipped}, out.Encode(exportLine{End: &r.end})
}

func (r *reader) writeHeader(context.Context) error {
	return r.out.Encode(exportLine{Parley: "export", Version: exportVersion})
}

func (r *reader) notices() (list []string) {
	for _, conversation := range r.order {
		if conversation.notice != "" {
			list = append(list, conversation.notice)
		}
	}
	if r.empty > 0 {
		list = append(list, fmt.Sprintf("left out %d messages without a text", r.empty))
	}
	return list
}

// readError returns the error for a database that cannot be read.
func readError(err error) error {
	if own, ok := err.(*parley.Error); ok { //nolint:errorlint // the user must not see what it wraps
		return own
	}
	return parley.Errorf(parley.BadInput, "cannot read the database: %w", err).
		Suggest("give the conversations.db of Anima, and check it with: sqlite3 FILE 'PRAGMA integrity_check'")
}
