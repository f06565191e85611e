package server

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/pgtest"
)

// say posts a text as the owner to itself's own channel.
func say(t *testing.T, s *Server, text string) parley.Message {
	t.Helper()
	owner := hub.Caller{Agent: parley.Owner}
	_, err := s.hub.CreateConversation(t.Context(), owner, parley.NewConversation{Name: "notes"})
	if err != nil && parley.AsError(err).Reason != parley.Conflict {
		t.Fatal(err)
	}
	receipt, err := s.hub.Post(t.Context(), owner, parley.Draft{Conversation: "notes", Content: parley.Content{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	return receipt.Message
}

func TestBackupAndRestoreWithoutAHub(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		s := start(t, o)
		said := say(t, s, "hello")
		dir := filepath.Join(t.TempDir(), "backup")
		if _, err := Backup(t.Context(), o, dir); parley.AsError(err).Reason != parley.Conflict {
			t.Errorf("while a hub runs: %v", err)
		}
		stop(t, s)
		made, err := Backup(t.Context(), o, dir)
		if err != nil || made.Messages != 1 || made.Directory != dir {
			t.Fatalf("made %+v, %v", made, err)
		}
		if _, err := Restore(t.Context(), o, dir); err == nil {
			t.Error("a home that has a database was overwritten")
		}
		other := options(t, nil)
		if o.Config.Store != other.Config.Store {
			other = options(t, map[string]string{"store": pgtest.URL(t)})
		}
		restored, err := Restore(t.Context(), other, dir)
		if err != nil || restored.Messages != 1 || restored.Seq != made.Seq {
			t.Fatalf("restored %+v, %v", restored, err)
		}
		clean(t, other.Home)
		s = start(t, other)
		defer stop(t, s)
		again, err := s.hub.Message(t.Context(), hub.Caller{Agent: parley.Owner}, said.ID)
		if err != nil || again.Content.Text != "hello" {
			t.Errorf("found %+v, %v", again, err)
		}
		if _, err := Restore(t.Context(), other, dir); err == nil || !strings.Contains(err.Error(), "is in use by") {
			t.Errorf("while a hub runs: %v", err)
		}
	})
}

func TestExaminingAStore(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		s := start(t, o)
		said := say(t, s, "hello")
		stop(t, s)
		found, err := Examine(t.Context(), o, true, nil)
		if err != nil || found.Report == nil || found.Report.Messages != 1 || len(found.Report.Problems) > 0 {
			t.Fatalf("found %+v, %v", found, err)
		}
		if found.Newest == nil || found.Newest.Before(said.CreatedAt) || time.Since(*found.Newest) > time.Hour {
			t.Errorf("the newest is of %v", found.Newest)
		}
		if found, err = Examine(t.Context(), o, false, nil); err != nil || found.Report != nil {
			t.Errorf("quickly: %+v, %v", found, err)
		}
		clean(t, o.Home)
	})
}
