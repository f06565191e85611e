package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// verify compares the home of a victim with the victim's output. It consumes nothing.
func verify(ctx context.Context, home string, printed io.Reader) error {
	l, err := readLedger(printed)
	if err != nil {
		return err
	}
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	err = errors.Join(
		db.Checked(ctx),
		checkDeep(ctx, db),
		checkAcknowledged(ctx, h, l),
		checkSettled(ctx, db, l),
		checkTexts(ctx, db),
		checkUnread(ctx, h),
		db.Close(),
	)
	if err != nil {
		return err
	}
	return checkRows(ctx, filepath.Join(home, "parley.db"), disagreements)
}

// checkAcknowledged checks that each acknowledged message is stored with its text.
func checkAcknowledged(ctx context.Context, h *hub.Hub, l *ledger) error {
	for id, text := range l.posted {
		m, err := h.Message(ctx, hub.Caller{Agent: parley.Owner}, id)
		if err != nil {
			return fmt.Errorf("acknowledged message %s is lost: %w", id, err)
		}
		if m.Content.Text != text {
			return fmt.Errorf("message %s says %q, acknowledged was %q", id, m.Content.Text, text)
		}
	}
	return nil
}

// checkSettled checks that each delivery that was printed as settled is settled. Other settled deliveries are possible, because a
// kill can come before the victim prints them: in each life one call of each taker.
func checkSettled(ctx context.Context, db *sqlite.DB, l *ledger) error {
	found, unprinted := 0, 0
	err := eachDelivery(ctx, db, func(d parley.Delivery) error {
		ended := d.State == parley.DeliveryAcked || d.State == parley.DeliveryAnswered
		switch printed := l.settled[key{d.Recipient, d.Message}]; {
		case printed && !ended:
			return fmt.Errorf("message %s was settled by %s, and is %s", d.Message, d.Recipient, d.State)
		case printed:
			found++
		case ended:
			unprinted++
		case !d.Open():
			return fmt.Errorf("message %s for %s is %s, which nobody wanted", d.Message, d.Recipient, d.State)
		}
		return nil
	})
	if err == nil && found != len(l.settled) {
		err = fmt.Errorf("%d deliveries were settled, %d of them are there", len(l.settled), found)
	}
	if limit := l.lives * agents * takersEach * maxTaken; err == nil && unprinted > limit {
		err = fmt.Errorf("%d deliveries are settled and nobody said so, that can be %d at most", unprinted, limit)
	}
	return err
}

// checkAbsent checks that no refused message is stored.
func checkAbsent(ctx context.Context, home string, texts io.Reader) error {
	_, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	refused := map[string]bool{}
	for lines := bufio.NewScanner(texts); lines.Scan(); {
		refused[lines.Text()] = true
	}
	err = eachMessage(ctx, db, func(_ storage.Tx, m parley.Message) error {
		if refused[m.Content.Text] {
			return fmt.Errorf("%q was refused and is stored", m.Content.Text)
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

func eachMessage(ctx context.Context, db *sqlite.DB, do func(storage.Tx, parley.Message) error) error {
	return db.View(ctx, func(tx storage.Tx) error {
		for after := int64(0); ; {
			list, err := tx.Messages().Scan(after, 500)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, m := range list {
				if err := do(tx, m); err != nil {
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

func eachDelivery(ctx context.Context, db *sqlite.DB, do func(parley.Delivery) error) error {
	return eachMessage(ctx, db, func(tx storage.Tx, m parley.Message) error {
		list, err := tx.Deliveries().OfMessage(m.ID)
		for _, d := range list {
			if err == nil {
				err = do(d)
			}
		}
		return err
	})
}

// checkTexts checks that no two messages have the same text.
func checkTexts(ctx context.Context, db *sqlite.DB) error {
	seen := map[string]bool{}
	return eachMessage(ctx, db, func(_ storage.Tx, m parley.Message) error {
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
		views, _, err := h.Conversations(ctx, me, parley.ListFilter{Limit: 500})
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

// disagreements are queries that must find nothing: rows that disagree with a counter or with each other.
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
	"inboxes whose count of what wakes is wrong": `SELECT a.num FROM agents a LEFT JOIN inboxes i ON i.agent = a.num
		WHERE coalesce(i.waking, 0) <> ` + openFor + `AND d.waking = 1)`,
	"inboxes whose count of what does not wake is wrong": `SELECT a.num FROM agents a LEFT JOIN inboxes i ON i.agent = a.num
		WHERE coalesce(i.quiet, 0) <> ` + openFor + `AND d.waking = 0)`,
	"leases that nobody can lose": `SELECT message FROM deliveries
		WHERE lease IS NOT NULL AND timer IS NULL OR state NOT IN ('delivered', 'seen') AND lease IS NOT NULL`,
	"timers of what is settled": `SELECT message FROM deliveries WHERE timer IS NOT NULL AND state IN ('acked', 'answered')`,
	"deliveries that are looked at at the wrong time": `SELECT d.message FROM deliveries d JOIN messages m ON m.seq = d.message
		WHERE d.next_at IS NOT (SELECT min(at) FROM (
			SELECT m.expires_at AS at WHERE d.state = 'accepted'
			UNION ALL SELECT m.deadline WHERE d.marks & 2 = 0 AND d.state IN ('accepted', 'delivered', 'seen', 'dead')
			UNION ALL SELECT d.accepted_at + CASE WHEN m.priority <= 3 THEN 86400000 WHEN m.priority <= 6 THEN 1800000
				WHEN m.priority <= 9 THEN 300000 ELSE 5000 END
				WHERE d.waking = 1 AND d.marks & 1 = 0 AND d.state IN ('accepted', 'delivered')))`,
}

// openFor counts the deliveries that fill an agent's inbox.
const openFor = `(SELECT count(*) FROM deliveries d WHERE d.agent = a.num AND d.purpose = ''
	AND (d.state IN ('accepted', 'delivered') OR d.state = 'seen' AND d.lease IS NOT NULL) `

func checkRows(ctx context.Context, path string, disagreements map[string]string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	for problem, query := range disagreements {
		var row int64
		switch err := db.QueryRowContext(ctx, query).Scan(&row); {
		case err == nil:
			return fmt.Errorf("%s: %d", problem, row)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return db.Close()
}
