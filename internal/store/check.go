package store

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// checkPage is how many rows a check reads at once. Each page is a view of its own, because one long view would keep the database
// from removing old versions of rows.
const checkPage = 500

// Check checks all stored data and adds each problem to a report: messages with a wrong checksum or without stored references,
// notes with a wrong checksum,
// missing and damaged bodies of artifacts, tokens with unknown scopes, deliveries, runs, tasks and approvals whose state
// contradicts their times, tasks in the wrong place of their tree, breaks in the audit chain, and wrong counters. From time to
// time it calls progress with the report so far. An error means that the check did not run to its end.
func Check(ctx context.Context, s storage.Store, report *parley.CheckReport, progress func(parley.CheckReport)) error {
	c := &checker{ctx: ctx, store: s, report: report, progress: progress, unreadable: map[string]bool{}}
	for _, part := range []struct {
		what string
		run  func() error
	}{
		{"messages", c.messages},
		{"deliveries", c.deliveries},
		{"artifacts", c.artifacts},
		{"tokens", c.tokens},
		{"runs", c.runs},
		{"tasks", c.tasks},
		{"approvals", c.approvals},
		{"notes", c.notes},
		{"the audit log", c.audit},
		{"counts", c.counts},
	} {
		err := part.run()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case parley.CodeOf(err) == parley.Internal:
			report.Add("%s cannot be read: %v", part.what, err)
		case err != nil:
			return err
		}
	}
	return nil
}

type checker struct {
	ctx      context.Context
	store    storage.Store
	report   *parley.CheckReport
	progress func(parley.CheckReport)

	unreadable map[string]bool // rows that cannot be read, each by its kind and id, like "run" and the id of the run
	skipped    int             // how many unreadable rows the last page had
}

// pages calls page again and again, each time with a new view and with how many rows it may read, until page returns false. It
// reports rows that cannot be read and leaves them out. If a page has only such rows, the next page is larger.
func (c *checker) pages(page func(view storage.Tx, limit int) (more bool, err error)) error {
	limit := checkPage
	for more := true; more; {
		c.skipped = 0
		err := c.store.View(c.ctx, func(view storage.Tx) (err error) {
			view.SkipUnreadable(c.reportUnreadable)
			more, err = page(view, limit)
			return err
		})
		if err != nil {
			return err
		}
		if !more && c.skipped >= limit {
			more, limit = true, 2*limit
		}
		c.progress(*c.report)
	}
	return nil
}

// reportUnreadable adds a row that cannot be read to the report, once.
func (c *checker) reportUnreadable(d parley.Damage) {
	c.skipped++
	if key := d.What + d.ID; !c.unreadable[key] {
		c.unreadable[key] = true
		c.report.Add("%s", d)
	}
}

func (c *checker) messages() error {
	after := int64(0)
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Messages().Scan(after, limit)
		for _, m := range list {
			if err == nil {
				err = c.message(tx, m)
			}
			after = m.Seq
		}
		return len(list) > 0, err
	})
}

func (c *checker) message(tx storage.Tx, m parley.Message) error {
	c.report.Messages++
	if m.Damage != nil {
		c.report.Add("%s", m.Damage.Message)
		return nil
	}
	want := m.Content.Digests()
	if len(want) == 0 && m.RedactedAt == nil {
		return nil
	}
	have, err := tx.Artifacts().OfMessage(m.ID)
	if slices.Sort(want); err == nil && !slices.Equal(have, want) {
		c.report.Add("message %s names other artifacts than its stored references", m.ID)
	}
	return err
}

// artifacts reads the bodies outside of views, because that may take long.
func (c *checker) artifacts() error {
	for after := ""; ; {
		var list []storage.StoredArtifact
		err := c.store.View(c.ctx, func(tx storage.Tx) (err error) {
			list, err = tx.Artifacts().List(after, checkPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, a := range list {
			if a.RemovedAt != nil {
				continue
			}
			if err := c.artifact(a); err != nil {
				return err
			}
			c.progress(*c.report)
		}
		after = list[len(list)-1].SHA256
	}
}

// artifact reads a whole body. An error means that the check must stop.
func (c *checker) artifact(a storage.StoredArtifact) error {
	c.report.Artifacts++
	size, err := c.body(a.SHA256)
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case errors.Is(err, parley.ErrNotFound):
		return c.reportMissing(a.SHA256)
	case err != nil:
		c.report.Add("artifact %s: %v", a.SHA256, err)
	case size != a.Size:
		c.report.Add("artifact %s has %d bytes, but its row says %d", a.SHA256, size, a.Size)
	}
	return nil
}

func (c *checker) body(sha256 string) (size int64, err error) {
	body, _, err := c.store.Blobs().Open(c.ctx, sha256)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(io.Discard, body)
	return size, errors.Join(err, body.Close())
}

// reportMissing reports a missing body, unless the body was removed after its row was read.
func (c *checker) reportMissing(sha256 string) error {
	var now storage.StoredArtifact
	err := c.store.View(c.ctx, func(tx storage.Tx) (err error) {
		now, err = tx.Artifacts().Get(sha256)
		return err
	})
	if errors.Is(err, parley.ErrNotFound) || now.RemovedAt != nil {
		c.report.Artifacts--
		return nil
	}
	c.report.Add("the body of artifact %s is missing", sha256)
	return err
}

func (c *checker) deliveries() error {
	after := int64(0)
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		found, last, err := tx.Counts().Deliveries(after, limit)
		for _, problem := range found {
			c.report.Add("%s", problem)
		}
		after = last
		return last > 0, err
	})
}

func (c *checker) tokens() error {
	before := ""
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Tokens().List(parley.TokenFilter{Before: before, Limit: limit})
		for _, t := range list {
			if _, bad := t.Scopes.Check(); bad != nil {
				c.report.Add("token %s has the scopes %q, which do not exist", t.ID, t.Scopes.Join(","))
			}
			before = t.ID
		}
		return len(list) > 0, err
	})
}

func (c *checker) runs() error {
	before := ""
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Runs().List(parley.RunFilter{Before: before, Limit: limit})
		for _, r := range list {
			if !r.State.Known() || r.State.Live() != (r.EndedAt == nil) {
				c.report.Add("run %s is %q, which does not agree with when it ended", r.ID, r.State)
			}
			before = r.ID
		}
		return len(list) > 0, err
	})
}

func (c *checker) audit() error {
	var last parley.AuditEntry
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		list, err := tx.Log().AuditEntries(last.Num, limit)
		for _, e := range list {
			c.report.Audited++
			if e.Num != last.Num+1 || e.Chain(last.Hash) != e.Hash {
				c.report.Add("entry %d of the audit log does not follow from entry %d", e.Num, last.Num)
			}
			last = e
		}
		return len(list) > 0, err
	})
}

func (c *checker) counts() error {
	return c.pages(func(tx storage.Tx, limit int) (bool, error) {
		for _, find := range []func(int) ([]string, error){
			tx.Counts().Conversations, tx.Counts().Artifacts, tx.Counts().Inboxes, tx.Counts().Keys, tx.Counts().MessageBytes,
		} {
			found, err := find(limit)
			if err != nil {
				return false, err
			}
			for _, problem := range found {
				c.report.Add("%s", problem)
			}
		}
		return false, nil
	})
}
