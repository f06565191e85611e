package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// verify opens what a victim left behind and compares it with what was acknowledged.
func verify(ctx context.Context, home string, acknowledged io.Reader) error {
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	err = errors.Join(
		db.Checked(ctx),
		checkDeep(ctx, db),
		checkAcknowledged(ctx, h, acknowledged),
		checkTexts(ctx, db),
		checkUnread(ctx, h),
		db.Close(),
	)
	if err != nil {
		return err
	}
	return checkRows(ctx, filepath.Join(home, "parley.db"))
}

// checkAcknowledged finds each message that was acknowledged, with the text it had.
func checkAcknowledged(ctx context.Context, h *hub.Hub, acknowledged io.Reader) error {
	lines := bufio.NewScanner(acknowledged)
	for lines.Scan() {
		id, text, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return fmt.Errorf("a broken line: %q", lines.Text())
		}
		m, err := h.Message(ctx, hub.Caller{Agent: parley.Owner}, id)
		if err != nil {
			return fmt.Errorf("acknowledged message %s is lost: %w", id, err)
		}
		if m.Content.Text != text {
			return fmt.Errorf("message %s says %q, acknowledged was %q", id, m.Content.Text, text)
		}
	}
	return lines.Err()
}

// checkAbsent makes sure that nothing is there of which the sender was told that it is not.
func checkAbsent(ctx context.Context, home string, texts io.Reader) error {
	_, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	refused := map[string]bool{}
	for lines := bufio.NewScanner(texts); lines.Scan(); {
		refused[lines.Text()] = true
	}
	err = eachMessage(ctx, db, func(m parley.Message) error {
		if refused[m.Content.Text] {
			return fmt.Errorf("%q was refused and is stored", m.Content.Text)
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

func eachMessage(ctx context.Context, db *sqlite.DB, look func(parley.Message) error) error {
	return db.View(ctx, func(tx parley.Tx) error {
		for after := int64(0); ; {
			list, err := tx.Messages().Scan(after, 500)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, m := range list {
				if err := look(m); err != nil {
					return err
				}
			}
			after = list[len(list)-1].Seq
		}
	})
}

func checkDeep(ctx context.Context, db *sqlite.DB) error {
	report, err := db.CheckDeep(ctx, nil)
	return errors.Join(err, report.Err())
}

// checkTexts makes sure that no text is there twice.
func checkTexts(ctx context.Context, db *sqlite.DB) error {
	seen := map[string]bool{}
	return eachMessage(ctx, db, func(m parley.Message) error {
		if seen[m.Content.Text] {
			return fmt.Errorf("the text %q is there twice", m.Content.Text)
		}
		seen[m.Content.Text] = true
		return nil
	})
}

// checkUnread compares each agent's unread counts with the messages themselves.
func checkUnread(ctx context.Context, h *hub.Hub) error {
	for n := range agents {
		me := hub.Caller{Agent: agentID(n)}
		views, _, err := h.Conversations(ctx, me, hub.ListFilter{Limit: 500})
		if err != nil {
			return err
		}
		for _, v := range views {
			want, after := 0, v.ReadSeq
			for {
				list, err := h.History(ctx, me, v.ID, parley.Page{Forward: true, After: after, Limit: 1000})
				if err != nil {
					return err
				}
				if len(list) == 0 {
					break
				}
				for _, m := range list {
					if m.From != me.Agent {
						want++
					}
				}
				after = list[len(list)-1].Seq
			}
			if v.Unread != want {
				return fmt.Errorf("%s has %d unread in %s, counted are %d", me.Agent, v.Unread, v.ID, want)
			}
		}
	}
	return nil
}

// What must be empty: rows that disagree with a counter or with each other.
var disagreements = map[string]string{
	"conversations whose count of messages is wrong": `SELECT c.num FROM conversations c
		WHERE c.messages <> (SELECT count(*) FROM messages m WHERE m.conv = c.num)`,
	"conversations whose last_seq is wrong": `SELECT c.num FROM conversations c
		WHERE c.last_seq <> (SELECT coalesce(max(m.seq), 0) FROM messages m WHERE m.conv = c.num)`,
	"pairs whose count is wrong": `SELECT p.sender FROM pairs p WHERE p.count <>
		(SELECT count(*) FROM deliveries d JOIN messages m ON m.seq = d.message WHERE m.sender = p.sender AND d.agent = p.recipient)`,
	"pair_seq that is not 1 to n": `SELECT m.sender FROM deliveries d JOIN messages m ON m.seq = d.message
		GROUP BY m.sender, d.agent HAVING min(d.pair_seq) <> 1 OR max(d.pair_seq) <> count(*) OR count(DISTINCT d.pair_seq) <> count(*)`,
	"messages in a DM without exactly one delivery": `SELECT m.seq FROM messages m JOIN conversations c ON c.num = m.conv
		WHERE c.kind = 'dm' AND (SELECT count(*) FROM deliveries d WHERE d.message = m.seq) <> 1`,
	"numbers missing in the order": `SELECT 1 FROM (SELECT count(*) AS n, max(num) AS top FROM
		(SELECT num FROM events UNION ALL SELECT seq FROM messages)) WHERE n <> top`,
	"conversations without members": `SELECT num FROM conversations c WHERE NOT EXISTS
		(SELECT 1 FROM participants p WHERE p.conv = c.num)`,
}

func checkRows(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	for what, query := range disagreements {
		var row int64
		switch err := db.QueryRowContext(ctx, query).Scan(&row); {
		case err == nil:
			return fmt.Errorf("%s: %d", what, row)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return db.Close()
}
