package groupcommit

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestTransientFailuresAreRetried(t *testing.T) {
	insert := func(t *tx) error { return t.add("arya") }
	for name, end := range map[string]func(*tx) error{
		"told":                    insert,
		"hidden":                  hides(insert),
		"told as an error of its": func(t *tx) error { return errors.Join(committest.ErrInjected, insert(t)) },
	} {
		t.Run("alone, "+name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				f.Conn.Before = committest.LostConnection("INSERT INTO names", 2)
				f.Submit("lone", onlyTransientErrors(end))
				f.WG.Wait()
				f.Acknowledged("lone")
				f.Ran("lone", 3)
			})
		})
		t.Run("in a batch, "+name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				f.Conn.Before = committest.LostConnection("INSERT INTO names", 1)
				f.Together(f.Plain("before"), f.With("unlucky", onlyTransientErrors(end)), f.Plain("after"))
				f.Acknowledged("held", "before", "unlucky", "after")
			})
		})
	}
}

// onlyTransientErrors returns the error of end if it is transient.
func onlyTransientErrors(end func(*tx) error) func(*tx) error {
	return func(t *tx) error {
		if err := end(t); errors.Is(err, committest.ErrTransient) {
			return err
		}
		return nil
	}
}

func TestRetriesAreLimited(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Conn.Before = committest.LostConnection("INSERT INTO names", -1)
		f.Submit("unlucky", func(t *tx) error { return t.add("arya") })
		f.WG.Wait()
		f.Refused("unlucky", committest.ErrTransient)
		f.Ran("unlucky", 1+attempts)
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}

// loseCommitAnswer loses the answer of the first COMMIT. stored says whether it took effect. Settle returns the answers, one a
// call, and then whether it took effect.
func loseCommitAnswer(f *fixture, stored bool, answers ...error) {
	failed := false
	f.Conn.Before = func(c *committest.Conn, query string) error {
		if query != "COMMIT" || failed {
			return nil
		}
		failed = true
		end := "ROLLBACK"
		if stored {
			end = "COMMIT"
		}
		if err := c.Raw(end); err != nil {
			f.Error(err)
		}
		return committest.ErrTransient
	}
	f.database.settle = func() (bool, error) {
		if len(answers) == 0 {
			return stored, nil
		}
		err := answers[0]
		answers = answers[1:]
		return false, err
	}
}

// The updates of a commit that took effect are acknowledged and do not run again.
func TestCommitSucceedsAndItsAnswerIsLost(t *testing.T) {
	for name, others := range map[string][]string{"alone": nil, "in a batch": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				loseCommitAnswer(f, true)
				f.Together(func() {
					for _, label := range others {
						f.Submit(label)
					}
				}, f.With("bad", func(*tx) error { return committest.ErrInjected }))
				f.Acknowledged(append(others, "held")...)
				f.Refused("bad", committest.ErrInjected)
				f.Ran("held", 1)
			})
		})
	}
}

func TestCommitFailsAndItsAnswerIsLost(t *testing.T) {
	for name, others := range map[string][]string{"alone": nil, "in a batch": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				loseCommitAnswer(f, false)
				f.Together(func() {
					for _, label := range others {
						f.Submit(label)
					}
				})
				f.Acknowledged(append(others, "held")...)
				f.Ran("held", 2)
			})
		})
	}
}

// Until the outcome is known, no caller is told that nothing was stored, and the writer takes no update.
func TestOutcomeOfACommitIsUnknown(t *testing.T) {
	withWriter(t, func(f *fixture) {
		loseCommitAnswer(f, false, committest.ErrInjected, committest.ErrInjected)
		f.Submit("doubtful")
		f.WG.Wait()
		f.Refused("doubtful", committest.ErrTransient)
		if text := f.Outcome("doubtful").Error(); !strings.Contains(text, "not known whether this was stored") {
			f.Errorf("it was told %s", text)
		}
		f.Submit("too early")
		f.WG.Wait()
		f.Refused("too early", committest.ErrInjected)
		f.Ran("too early", 0)
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}
