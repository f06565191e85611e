package postgres

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(end)) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storage.Store { return opened(t, migrated.Copy(t)) })
}

// migrated is a database with all tables and no rows.
var migrated = &pgtest.Template{Make: func(url string) error {
	db, err := Open(context.Background(), url)
	if err != nil {
		return err
	}
	return db.Close()
}}

func end(code int) {
	migrated.Drop()
	os.Exit(code)
}

// opened opens a database and closes it when the test has ended.
func opened(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// prepare adds an agent and a channel where they are not there yet.
func prepare(t *testing.T, db *DB) (c parley.Conversation) {
	t.Helper()
	err := db.Update(t.Context(), func(tx storage.Tx) (err error) {
		if c, err = tx.Conversations().Find("general"); !errors.Is(err, parley.ErrNotFound) {
			return err
		}
		err = tx.Agents().Insert(parley.Agent{ID: "arya", UUID: uuid.NewString(), Name: "Arya", Kind: parley.KindAgent})
		if err != nil {
			return err
		}
		c = parley.Conversation{
			ID: uuid.NewString(), Name: "general", Kind: parley.Channel, Visibility: parley.Public, CreatedBy: "arya",
		}
		return tx.Conversations().Insert(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func post(t *testing.T, db *DB, c parley.Conversation, text string) (id string) {
	t.Helper()
	id = uuid.NewString()
	if err := db.Update(t.Context(), posting(c, id, text)); err != nil {
		t.Errorf("posting %s: %v", text, err)
	}
	return id
}

func posting(c parley.Conversation, id, text string) func(storage.Tx) error {
	m := parley.Message{
		ID: id, TraceID: id, Conversation: c.ID, From: "arya", Type: parley.TypeChat, Priority: parley.DefaultPriority,
		Source: "api", Content: parley.Content{Text: text},
	}
	return func(tx storage.Tx) (err error) {
		if m.Seq, err = tx.Messages().NextSeq(); err != nil {
			return err
		}
		m.Checksum = m.Seal(m.BodyDigest())
		return tx.Messages().Insert(m)
	}
}

// holds requires that a store has exactly these messages, in any order, numbered from 1 without gaps.
func holds(t *testing.T, db *DB, ids []string) {
	t.Helper()
	var stored []string
	err := db.View(context.Background(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(0, 1<<20)
		for i, m := range list {
			if m.Seq != int64(i+1) || !m.Intact() {
				t.Errorf("message %d has the number %d; intact: %t", i+1, m.Seq, m.Intact())
			}
			stored = append(stored, m.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids = slices.Sorted(slices.Values(ids))
	slices.Sort(stored)
	if !slices.Equal(stored, ids) {
		t.Errorf("%d messages are stored, %d were acknowledged; not the same", len(stored), len(ids))
	}
}
