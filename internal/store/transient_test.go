package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"
)

// passing makes the nth statements that begin with a word fail as a lost connection does: the
// transaction is gone, and it may go well if it is run again.
func passing(prefix string, times int) func(*testConn, string) error {
	return func(c *testConn, query string) error {
		if times == 0 || !strings.HasPrefix(query, prefix) {
			return nil
		}
		times--
		_ = c.raw("ROLLBACK")
		return errPasses
	}
}

func TestWhatPassesIsRunAgain(t *testing.T) {
	insert := func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) }
	for name, end := range map[string]func(storage.Tx) error{
		"told":                    insert,
		"hidden":                  hides(insert),
		"told as an error of its": func(tx storage.Tx) error { return errors.Join(errInjected, insert(tx)) },
	} {
		t.Run("alone, "+name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.driver.writer.before = passing("INSERT INTO agents", 2)
				s.submit("lone", onceFails(end))
				s.wg.Wait()
				s.acknowledged("lone")
				s.ran("lone", 3)
			})
		})
		t.Run("in a batch, "+name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.driver.writer.before = passing("INSERT INTO agents", 1)
				s.together(s.plain("before"), s.with("unlucky", onceFails(end)), s.plain("after"))
				s.acknowledged("held", "before", "unlucky", "after")
			})
		})
	}
}

// onceFails returns an error of its own only where the database has failed too.
func onceFails(end func(storage.Tx) error) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		if err := end(tx); errors.Is(err, errPasses) {
			return err
		}
		return nil
	}
}

func TestWhatDoesNotPassIsTold(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = passing("INSERT INTO agents", -1)
		s.submit("unlucky", func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) })
		s.wg.Wait()
		s.refused("unlucky", errPasses)
		s.ran("unlucky", 1+attempts)
		s.submit("later")
		s.wg.Wait()
		s.acknowledged("later")
	})
}

// settles makes the commit of the first batch fail, whether it took effect or not, and then answers
// what became of it.
func settles(s *scene, stored bool, answers ...error) {
	failed := false
	s.driver.writer.before = func(c *testConn, query string) error {
		if query != "COMMIT" || failed {
			return nil
		}
		failed = true
		end := "ROLLBACK"
		if stored {
			end = "COMMIT"
		}
		if err := c.raw(end); err != nil {
			s.Error(err)
		}
		return errPasses
	}
	s.driver.settle = func() (bool, error) {
		if len(answers) == 0 {
			return stored, nil
		}
		err := answers[0]
		answers = answers[1:]
		return false, err
	}
}

// A commit whose answer was lost is looked up: what is there is acknowledged, not stored again.
func TestCommitThatWentWellUnheard(t *testing.T) {
	for name, others := range map[string][]string{"alone": nil, "in a batch": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				settles(s, true)
				s.together(func() {
					for _, label := range others {
						s.submit(label)
					}
				}, s.with("bad", func(storage.Tx) error { return errInjected }))
				s.acknowledged(append(others, "held")...)
				s.refused("bad", errInjected)
				s.ran("held", 1)
			})
		})
	}
}

func TestCommitThatWentWrongUnheard(t *testing.T) {
	for name, others := range map[string][]string{"alone": nil, "in a batch": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				settles(s, false)
				s.together(func() {
					for _, label := range others {
						s.submit(label)
					}
				})
				s.acknowledged(append(others, "held")...)
				s.ran("held", 2)
			})
		})
	}
}

// Until somebody knows, nobody is told that nothing was stored, and nothing new is taken.
func TestCommitOfWhichNobodyKnows(t *testing.T) {
	play(t, func(s *scene) {
		settles(s, false, errInjected, errInjected)
		s.submit("doubtful")
		s.wg.Wait()
		s.refused("doubtful", errPasses)
		if text := s.told["doubtful"].Error(); !strings.Contains(text, "not known whether this was stored") {
			s.Errorf("it was told %s", text)
		}
		s.submit("too early")
		s.wg.Wait()
		s.refused("too early", errInjected)
		s.ran("too early", 0)
		s.submit("later")
		s.wg.Wait()
		s.acknowledged("later")
	})
}
