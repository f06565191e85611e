// Package anima reads the conversation store of S2, a SQLite database, and writes what is in it as the lines that a hub
// imports. Ids are derived from what they stand for, so that repeating it adds only what is new. The database may be a draft of
// that schema: what is missing is made up for, what is foreign is left alone, and the file is never written to.
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

// exportLine is a line of an export, as far as a conversation store has anything for it.
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

// exportVersion is the version of the lines that are written.
const exportVersion = 2

// reader reads one database and writes lines.
type reader struct {
	db            *sql.DB
	out           *json.Encoder
	hub           *hubState
	conversations map[string]*sourceConversation // by their ids there
	order         []*sourceConversation          // the oldest first
	end           exportEnd
	empty         int      // messages that say nothing
	skipped       []string // why messages could not be taken
	store         func(context.Context, io.Reader) (parley.Artifact, error)
}

// Hub is what conversations are for.
type Hub struct {
	Conversations []parley.ConversationView // there are: what two or more have said to each other goes where they talk already
	Agents        []parley.Agent            // by their ids and names
	// Store keeps a text that is too long for a message. E003 if it is too long for that too.
	Store func(context.Context, io.Reader) (parley.Artifact, error)
}

// Exported is what became of a database besides its lines.
type Exported struct {
	Notices []string
	Skipped []string // why each message was left out that says something
}

// Export writes the conversations of a database as the lines of an export. E003 for what is no such database.
func Export(ctx context.Context, file string, to Hub, w io.Writer) (done Exported, err error) {
	db, leave, err := openCopy(ctx, file)
	if err != nil {
		return done, err
	}
	defer leave()
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
	for _, room := range r.order {
		if room.notice != "" {
			list = append(list, room.notice)
		}
	}
	if r.empty > 0 {
		list = append(list, fmt.Sprintf("left out %d messages without a text", r.empty))
	}
	return list
}

// readError says that a database is not what it should be.
func readError(err error) error {
	if own, ok := err.(*parley.Error); ok { //nolint:errorlint // what it wraps is not for the user
		return own
	}
	return parley.Errorf(parley.BadInput, "cannot read the database: %w", err).
		Suggest("give the conversations.db of Anima, and check it with: sqlite3 FILE 'PRAGMA integrity_check'")
}
