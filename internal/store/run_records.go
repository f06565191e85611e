package store

import (
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

func (s runs) AddPost(run string, post storage.RunPost) error {
	key, err := s.key(run)
	if err != nil {
		return err
	}
	seq, err := s.seqOf(post.Message)
	if err != nil {
		return err
	}
	return s.write("INSERT INTO run_posts (run, message, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", key, seq, post.Digest)
}

// key is the key of a run of a conversation that is there.
func (s runs) key(run string) (key []byte, err error) {
	id, err := uuid.Parse(run)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	err = s.row("SELECT r.id FROM runs r WHERE r.id = $1 AND "+runRoom+" IS NOT NULL", []any{id[:]}, []any{&key})
	return key, err
}

func (s runs) Posts(run string) (posts []storage.RunPost, err error) {
	key, err := s.key(run)
	if err != nil {
		return nil, err
	}
	err = s.each(`SELECT p.digest, (SELECT m.id FROM messages m JOIN conversations c ON c.num = m.conv
		WHERE m.seq = p.message AND `+alive+") FROM run_posts p WHERE p.run = $1 ORDER BY p.message", []any{key}, func(r Rows) error {
		var (
			post storage.RunPost
			id   []byte
		)
		err := r.Scan(&post.Digest, &id)
		if err != nil || id == nil { // its conversation is gone
			return err
		}
		if post.Message, err = uuidText(id); err == nil { // else it is damaged, and nothing that can be repeated
			posts = append(posts, post)
		}
		return nil
	})
	return posts, err
}

func (s runs) PostedBy(message string) (parley.Run, error) {
	seq, err := s.seqOf(message)
	if err != nil {
		return parley.Run{}, err
	}
	return oneRun(s.find("run_posts p ON p.run = r.id", "p.message = $1 ORDER BY p.run LIMIT 1", seq))
}

func (s runs) KeepOutput(run string, output []byte) error {
	key, err := s.key(run)
	if err != nil {
		return err
	}
	if len(output) == 0 {
		_, err := s.dropOutputs("SELECT id FROM runs WHERE id = $1", key)
		return err
	}
	err = s.write("INSERT INTO run_outputs (run, output) VALUES ($1, $2) ON CONFLICT (run) DO UPDATE SET output = excluded.output", key, output)
	if err != nil {
		return err
	}
	return s.write("UPDATE runs SET output = 1 WHERE id = $1", key)
}

func (s runs) Output(run string) (output []byte, err error) {
	key, err := s.key(run)
	if err != nil {
		return nil, err
	}
	err = s.row("SELECT output FROM run_outputs WHERE run = $1", []any{key}, []any{&output})
	_, err = absent(err)
	return output, err
}

func (s runs) ForgetOutputs(before time.Time, limit int) (int, error) {
	return s.dropOutputs("SELECT id FROM runs WHERE output = 1 AND ended_at < $1 ORDER BY ended_at, id LIMIT 0 + $2", millis(before), limit)
}

// dropOutputs erases what runs have written, and says of how many. which selects their ids, and must go on
// to do so once the output is gone.
func (t *tx) dropOutputs(which string, args ...any) (int, error) {
	n, err := t.exec("DELETE FROM run_outputs WHERE run IN ("+which+")", args...)
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = t.exec("UPDATE runs SET output = 0 WHERE output = 1 AND id IN ("+which+")", args...)
	return int(n), err
}

// runsOf selects the runs that were woken by messages or have posted them. which selects the messages' seqs.
func runsOf(which string) string {
	return "SELECT run FROM run_triggers WHERE message IN (" + which + ") UNION SELECT run FROM run_posts WHERE message IN (" + which + ")"
}
