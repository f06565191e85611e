package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// TestNotesSurviveARestartOfTheHub loses the answer of each first call, after the hub has made it: as if the hub was killed then.
// Nothing is lost, and nothing is stored twice.
func TestNotesSurviveARestartOfTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored, calls := map[string]string{}, map[string]int{} // the notes by their keys
		c := over(t, func(r *http.Request) (*http.Response, error) {
			answer := `{}`
			status := http.StatusOK
			switch r.Method {
			case http.MethodPost:
				var n parley.NewNote
				if err := json.NewDecoder(r.Body).Decode(&n); err != nil || n.IdempotencyKey == "" || r.Header.Get("Idempotency-Key") != n.IdempotencyKey {
					t.Errorf("remember %+v, key %q: %v", n, r.Header.Get("Idempotency-Key"), err)
				}
				if stored[n.IdempotencyKey] == "" {
					stored[n.IdempotencyKey] = n.Text
				}
				answer = `{"id":"note-1","text":"` + stored[n.IdempotencyKey] + `"}`
			case http.MethodGet:
				answer = `{"items":[{"id":"note-1","text":"steel"}]}`
			case http.MethodDelete:
				if status = http.StatusNoContent; calls[r.Method] > 0 {
					status, answer = http.StatusNotFound, `{"code":"E003","reason":"not_found","detail":"there is no note"}`
				}
			}
			if calls[r.Method]++; calls[r.Method] == 1 {
				return nil, io.ErrUnexpectedEOF
			}
			kind := "application/json"
			if status >= 400 {
				kind = "application/problem+json"
			}
			return answered(status, kind, bytes.NewReader([]byte(answer))), nil
		})
		w := c.Workspace("arya", "")
		for _, text := range []string{"steel", "iron"} {
			if n, err := w.Remember(t.Context(), parley.NewNote{Scope: parley.PrivateNote, Text: text}); err != nil || n.Text != text {
				t.Errorf("remembered %+v: %v", n, err)
			}
		}
		if len(stored) != 2 || calls[http.MethodPost] != 3 {
			t.Errorf("%d calls stored %v", calls[http.MethodPost], stored)
		}
		if list, err := w.Recall(t.Context(), parley.NoteFilter{Query: "steel"}); err != nil || len(list) != 1 {
			t.Errorf("recalled %+v: %v", list, err)
		}
		if err := w.Forget(t.Context(), "note-1"); err != nil {
			t.Errorf("forgetting, interrupted: %v", err)
		}
		if err := w.Forget(t.Context(), "note-1"); err == nil || !strings.Contains(err.Error(), "there is no note") {
			t.Errorf("forgetting again: %v", err)
		}
	})
}
