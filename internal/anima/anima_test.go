package anima

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

const schema = `CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
	CREATE TABLE participants (conv_id TEXT NOT NULL, agent TEXT NOT NULL, joined_at INTEGER NOT NULL, PRIMARY KEY (conv_id, agent));
	CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, conv_id TEXT NOT NULL, from_agent TEXT NOT NULL, content TEXT NOT NULL,
		mentions TEXT, created_at INTEGER NOT NULL);`

// made is a database that statements have made.
func made(t *testing.T, statements ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "conversations.db")
	db, err := sql.Open("sqlite", file)
	for _, statement := range statements {
		if err == nil {
			_, err = db.ExecContext(t.Context(), statement)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

// exported are the lines of a database.
func exported(t *testing.T, file string, have ...parley.ConversationView) (lines []exportLine) {
	t.Helper()
	lines, _ = exportedTo(t, file, Hub{Conversations: have})
	return lines
}

func exportedTo(t *testing.T, file string, to Hub) (lines []exportLine, done Exported) {
	t.Helper()
	var out bytes.Buffer
	done, err := Export(context.Background(), file, to, &out)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(out.String()) {
		var l exportLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines, done
}

// describeLines returns what lines say, in short.
func describeLines(lines []exportLine) (words []string) {
	names := map[string]string{}
	for _, l := range lines {
		switch {
		case l.Agent != nil:
			words = append(words, "agent "+l.Agent.ID)
		case l.Conversation != nil:
			c := l.Conversation
			members := []string{}
			for _, m := range c.Members {
				members = append(members, m.Agent)
			}
			names[c.ID] = fmt.Sprint(c.Kind, c.Name)
			words = append(words, strings.TrimSpace(fmt.Sprint(c.Kind, " ", c.Name, " ", members)))
		case l.Message != nil:
			m := l.Message
			words = append(words, fmt.Sprint(names[m.Conversation], " ", m.From, ": ", m.Content.Text, " ", m.Mentions, " ", m.CreatedAt.Format(time.RFC3339Nano)))
		}
	}
	return words
}

func TestConversationsGetTheirKindAndMembers(t *testing.T) {
	t.Parallel()
	file := made(t, schema, `INSERT INTO conversations VALUES ('a', 'project-x', 1706000000, 0), ('b', NULL, 1706000001, 0), ('c', '', 1706000002, 0), ('d', NULL, 1706000003, 0), ('e', 'Project X', 1706000004, 0)`,
		`INSERT INTO participants VALUES ('b', 'user', 0), ('b', 'Arya', 0), ('d', 'user', 0), ('d', 'arya', 0), ('c', 'user', 0), ('c', 'arya', 0), ('e', 'all', 0)`,
		`INSERT INTO messages (conv_id, from_agent, content, mentions, created_at) VALUES
			('a', 'user', 'one', '["arya", "nobody", "arya"]', 1706000010), ('c', 'Jon Snow', 'two', 'broken', 1706000011500),
			('orphan', 'arya', 'three', NULL, 1706000012), ('a', 'arya', 'four', '["user"]', 0), ('a', 'arya', '', NULL, 1)`)
	want := []string{
		"agent all-8bc9", "agent arya", "agent jon-snow-6fb9",
		"channel project-x [arya user]", "dm  [arya user]", "group  [arya jon-snow-6fb9 user]", "ephemeral  [arya user]",
		"channel project-x-0000 [all-8bc9]", "channel anima-orphan [arya]",
		"channelproject-x user: one [arya] 2024-01-23T08:53:30Z", "group jon-snow-6fb9: two [] 2024-01-23T08:53:31.5Z",
		"channelanima-orphan arya: three [] 2024-01-23T08:53:32Z", "channelproject-x arya: four [user] 2024-01-23T08:53:32Z",
	}
	got := describeLines(exported(t, file))
	marks := func(words string) string { // marks are digests
		out := strings.Fields(words)
		for i, word := range out {
			for _, known := range []string{"all-", "jon-snow-", "project-x-"} {
				if at := strings.Index(word, known); at >= 0 {
					end := at + len(known)
					out[i] = word[:end] + "????" + word[end+4:]
				}
			}
		}
		return strings.Join(out, " ")
	}
	for i := range want {
		want[i] = marks(want[i])
	}
	for i := range got {
		got[i] = marks(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
}

func TestRepeatedExportHasTheSameIDs(t *testing.T) {
	t.Parallel()
	file := made(t, schema, `INSERT INTO messages (conv_id, from_agent, content, created_at) VALUES ('a', 'arya', 'same', 1706000010), ('a', 'arya', 'same', 1706000010)`)
	first := exported(t, file)
	if diff := cmp.Diff(first, exported(t, file), cmp.AllowUnexported(parley.Priority{})); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	ids := map[string]bool{}
	for _, l := range first {
		if l.Message != nil {
			ids[l.Message.ID] = true
		}
	}
	if len(ids) != 2 {
		t.Errorf("two messages that say the same have %d ids", len(ids))
	}
}

func TestMessagesOfTwoGoIntoTheirExistingDM(t *testing.T) {
	t.Parallel()
	file := made(t, schema, `INSERT INTO messages (conv_id, from_agent, content, created_at) VALUES ('a', 'arya', 'x', 1706000010), ('a', 'user', 'y', 1706000011)`)
	have := parley.ConversationView{Conversation: parley.Conversation{ID: "0190a8c4-5f4e-7000-8000-000000000001", Kind: parley.DM}, Members: []string{"user", "arya"}}
	for _, l := range exported(t, file, have) {
		if l.Conversation != nil || l.Message != nil && l.Message.Conversation != have.ID {
			t.Errorf("unexpected %+v", l)
		}
	}
}

func TestDraftsOfTheSchemaAreRead(t *testing.T) {
	t.Parallel()
	file := made(t, `CREATE TABLE messages (conv_id, "from", text, timestamp)`, `CREATE TABLE conversations (id)`,
		`INSERT INTO messages VALUES ('a', 'arya', x'ff00', '2024-01-23T08:53:30Z'), ('a', 'user', 7, 'never')`, `INSERT INTO conversations VALUES ('a')`)
	want := []string{"agent arya", "dm  [arya user]", "dm arya: \uFFFD\uFFFD [] 2024-01-23T08:53:30Z", "dm user: 7 [] 2024-01-23T08:53:30Z"}
	if diff := cmp.Diff(want, describeLines(exported(t, file))); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
}

func TestWriteAheadLogIsReadWithoutChangingTheFile(t *testing.T) {
	t.Parallel()
	file := made(t, "PRAGMA journal_mode=WAL", schema)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `INSERT INTO messages (conv_id, from_agent, content, created_at) VALUES ('a', 'arya', 'late', 1706000010)`); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(describeLines(exported(t, file)), "\n"); !strings.Contains(got, "arya: late") {
		t.Errorf("the lines are %s", got)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, or cannot be read: %v", err)
	}
}

func TestTextThatIsTooLongIsKeptBesideItsMessage(t *testing.T) {
	t.Parallel()
	file := made(t, schema, `INSERT INTO messages (conv_id, from_agent, content, created_at) VALUES
		('a', 'arya', printf('%.*c', 300000, 'é'), 1706000010), ('a', 'arya', printf('%.*c', 400000, 'x'), 1706000011), ('a', 'arya', 'short', 1706000012)`)
	kept := []int{}
	lines, done := exportedTo(t, file, Hub{Store: func(_ context.Context, r io.Reader) (parley.Artifact, error) {
		raw, err := io.ReadAll(r)
		if len(raw) < 500_000 {
			return parley.Artifact{}, parley.Errorf(parley.BadInput, "it is too large")
		}
		kept = append(kept, len(raw))
		return parley.Artifact{SHA256: "digest", Size: int64(len(raw))}, err
	}})
	contents := []parley.Content{}
	for _, l := range lines {
		if l.Message != nil {
			contents = append(contents, l.Message.Content)
		}
	}
	if len(contents) != 2 || contents[1].Text != "short" {
		t.Fatalf("there are %d messages", len(contents))
	}
	long := contents[0]
	if long.Text != strings.Repeat("é", 8<<10)+"…" || len(long.Artifacts) != 1 || long.Artifacts[0].SHA256 != "digest" || long.Artifacts[0].Name != "message.txt" {
		t.Errorf("the long one has %d bytes and %+v", len(long.Text), long.Artifacts)
	}
	if diff := cmp.Diff([]int{600_000}, kept); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"message 2 of 400000 bytes: it is too large"}, done.Skipped); diff != "" {
		t.Errorf("what is left out (-want +got):\n%s", diff)
	}
}

// TestNamesAreMatchedToAgentsOfTheHub: somebody is meant by an id or a name, in any case.
func TestNamesAreMatchedToAgentsOfTheHub(t *testing.T) {
	t.Parallel()
	file := made(t, schema, `INSERT INTO messages (conv_id, from_agent, content, mentions, created_at) VALUES
		('a', 'brienne', 'one', NULL, 1706000010), ('a', 'parley', 'two', '["Brienne"]', 1706000011)`)
	lines, _ := exportedTo(t, file, Hub{Agents: []parley.Agent{
		{ID: "knight-1", Name: "Brienne", Kind: parley.KindAgent}, {ID: parley.System, Name: "Parley", Kind: parley.KindSystem},
	}})
	got := describeLines(lines)
	if want := "dm knight-1: one [] 2024-01-23T08:53:30Z"; !slices.Contains(got, want) {
		t.Errorf("there is no %q in %q", want, got)
	}
	if last := got[len(got)-1]; !strings.Contains(last, "two [knight-1]") || strings.Contains(last, " parley:") {
		t.Errorf("the last is %q", last)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	t.Parallel()
	write := func(content []byte) string {
		file := filepath.Join(t.TempDir(), "conversations.db")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	whole, err := os.ReadFile(made(t, schema, `INSERT INTO messages (conv_id, from_agent, content, created_at) VALUES ('a', 'arya', 'x', 1)`))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ file, words string }{
		"nothing":          {filepath.Join(t.TempDir(), "none"), "there is no file"},
		"a directory":      {t.TempDir(), "is not a SQLite database"},
		"an empty file":    {write(nil), "is not a SQLite database"},
		"a text":           {write([]byte("hello, this is no database")), "is not a SQLite database"},
		"only its begin":   {write(whole[:100]), "the database"},
		"a broken one":     {write(append(bytes.Clone(whole[:4096]), bytes.Repeat([]byte{0xff}, len(whole)-4096)...)), "the database"},
		"other tables":     {made(t, "CREATE TABLE letters (x)"), "has no table messages"},
		"a view":           {made(t, "CREATE VIEW messages AS SELECT 1 AS conv_id, 2 AS from_agent, 3 AS content"), "has no table messages"},
		"another form":     {made(t, "CREATE TABLE messages (id, words)"), "the table messages has no column conv_id"},
		"without an order": {made(t, "CREATE TABLE messages (conv_id, from_agent, content, PRIMARY KEY (conv_id)) WITHOUT ROWID"), "cannot read the database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Export(context.Background(), test.file, Hub{}, &bytes.Buffer{})
			if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), test.words) {
				t.Errorf("the error is %v, want E003 with %q", err, test.words)
			}
		})
	}
}

func TestAnyNameBecomesAnID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"all", "parley", "Arya", "-", "é", strings.Repeat("x", 99)})).Draw(t, "name")
		id := newAgentID(name)
		if err := parley.CheckID(id); err != nil {
			t.Fatalf("%q becomes %q: %v", name, id, err)
		}
		if id != newAgentID(name) {
			t.Fatal("it is another one each time")
		}
	})
}
