package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var nameTests = []test{
	{"numbers of runs and approvals rise, and those of failed updates are drawn again", numbersRise},
	{"numbers of runs and approvals are stored and never change", numbersStay},
	{"the number of a deleted row is never drawn again", numbersAreNeverReused},
	{"a number in use is refused", numbersTaken},
	{"messages, runs and approvals are found by number", foundByNumber},
	{"messages, runs and approvals are found by the beginning and the end of an id", foundByPiece},
	{"a reader finds only accessible rows by a piece of an id", foundByReader},
	{"a piece of an id finds each row once, up to the limit", foundUpToALimit},
	{"the end of an id is searched among the newest messages", foundAmongTheNewest},
}

// numberedRow is a kind of row that has a number.
type numberedRow struct {
	noun parley.Noun
	next func(storage.Tx) (int64, error)
	add  func(tx storage.Tx, number int64) (id string, err error)
	get  func(tx storage.Tx, id string) (int64, error)
}

func numberedRows(conversation string) []numberedRow {
	return []numberedRow{
		{
			parley.NounRun,
			func(tx storage.Tx) (int64, error) { return tx.Runs().NextNumber() },
			func(tx storage.Tx, number int64) (string, error) {
				r := newRun("arya", conversation)
				r.Number = number
				return r.ID, tx.Runs().Insert(r)
			},
			func(tx storage.Tx, id string) (int64, error) {
				r, err := tx.Runs().Get(id)
				return r.Number, err
			},
		},
		{
			parley.NounApproval,
			func(tx storage.Tx) (int64, error) { return tx.Approvals().NextNumber() },
			func(tx storage.Tx, number int64) (string, error) {
				a := newApproval(newID())
				a.Number, a.Conversation = number, conversation
				return a.ID, tx.Approvals().Insert(a)
			},
			func(tx storage.Tx, id string) (int64, error) {
				a, err := tx.Approvals().Get(id)
				return a.Number, err
			},
		},
	}
}

// draw adds a row with the next number.
func (n numberedRow) draw(tx storage.Tx) (id string, number int64, err error) {
	if number, err = n.next(tx); err == nil {
		id, err = n.add(tx, number)
	}
	return id, number, err
}

func (f *fixture) drawNumber(n numberedRow) (id string, number int64) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		id, number, err = n.draw(tx)
		return err
	})
	return id, number
}

func numbersRise(f *fixture) {
	c, _ := f.channelWithMessages(0)
	for _, n := range numberedRows(c.ID) {
		var got []int64
		draw := func(tx storage.Tx) error {
			got = nil
			for range 3 {
				_, number, err := n.draw(tx)
				if err != nil {
					return err
				}
				got = append(got, number)
			}
			return nil
		}
		f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(draw(tx), errOwn) })
		f.update(draw)
		f.same("the first of "+string(n.noun), got, []int64{1, 2, 3})
		f.update(func(tx storage.Tx) error {
			return tx.Log().Append(parley.Event{At: at(1), Kind: parley.EventAgentAdded, Agent: "arya"}) // an event draws a seq
		})
		f.update(draw)
		f.same("the next of "+string(n.noun), got, []int64{4, 5, 6})
	}
	before := read(f, func(tx storage.Tx) (int64, error) { return tx.Messages().NextSeq() })
	f.update(func(tx storage.Tx) error {
		if _, err := tx.Runs().NextNumber(); err != nil {
			return err
		}
		seq, err := tx.Messages().NextSeq()
		if seq != before {
			f.Errorf("the next seq is %d after a number was drawn, and was %d", seq, before)
		}
		return err
	})
}

func numbersStay(f *fixture) {
	c, _ := f.channelWithMessages(0)
	r, a := newRun("arya", c.ID), newApproval("digest")
	r.Number, a.Number = 7, 9
	f.runs(r)
	f.approvals(a)
	f.same("a run", f.getRun(r.ID), r)
	f.same("an approval", f.getApproval(a.ID), a)
	f.same("listed runs", read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().List(parley.RunFilter{Limit: 9}) })[0].Number, r.Number)
	f.same("listed approvals", read(f, func(tx storage.Tx) ([]parley.Approval, error) {
		return tx.Approvals().List(parley.ApprovalFilter{Limit: 9}, "", true)
	})[0].Number, a.Number)
	f.same("pending ones", read(f, func(tx storage.Tx) ([]parley.Approval, error) { return tx.Approvals().Pending("arya") })[0].Number, a.Number)
	other, otherCall := r, a
	other.Number, otherCall.Number = 70, 90
	f.putRun(other)
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(otherCall) })
	f.same("a run that was put", f.getRun(r.ID), r)
	f.same("an approval that was put", f.getApproval(a.ID), a)
}

func numbersAreNeverReused(f *fixture) {
	c, _ := f.channelWithMessages(1)
	for _, n := range numberedRows(c.ID) {
		f.drawNumber(n)
	}
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	for n := -1; n != 0; {
		f.update(func(tx storage.Tx) (err error) {
			n, err = tx.Conversations().Purge(100)
			return err
		})
	}
	other := f.channel("other", "arya")
	for _, n := range numberedRows(other.ID) {
		_, number := f.drawNumber(n)
		f.same("after a deletion, "+string(n.noun), number, int64(2))
	}
}

func numbersTaken(f *fixture) {
	c, _ := f.channelWithMessages(0)
	for _, n := range numberedRows(c.ID) {
		_, number := f.drawNumber(n)
		f.fails(parley.ErrTaken, func(tx storage.Tx) error { return errorOf(n.add(tx, number)) })
		for range 2 { // rows of an older program have no number
			f.update(func(tx storage.Tx) error { return errorOf(n.add(tx, 0)) })
		}
	}
}

func foundByNumber(f *fixture) {
	c, m := f.channelWithMessages(2)
	byNumber := func(noun parley.Noun, number int64) func(storage.Tx) (string, error) {
		return func(tx storage.Tx) (string, error) { return tx.Names().Numbered(noun, number) }
	}
	f.same("a message", read(f, byNumber(parley.NounMessage, m[1].Seq)), m[1].ID)
	for _, n := range numberedRows(c.ID) {
		f.drawNumber(n)
		id, number := f.drawNumber(n)
		f.same("its own number", read(f, func(tx storage.Tx) (int64, error) { return n.get(tx, id) }), number)
		f.same("a "+string(n.noun), read(f, byNumber(n.noun, number)), id)
		f.missing("a number that is not drawn yet", func(tx storage.Tx) error { return errorOf(byNumber(n.noun, number+1)(tx)) })
	}
	f.missing("an event", func(tx storage.Tx) error { return errorOf(byNumber(parley.NounMessage, m[1].Seq+99)(tx)) })
	f.missing("a noun without numbers", func(tx storage.Tx) error { return errorOf(byNumber("agent", 1)(tx)) })
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.missing("a message of a deleted conversation", func(tx storage.Tx) error { return errorOf(byNumber(parley.NounMessage, m[1].Seq)(tx)) })
	f.missing("a run of a deleted conversation", func(tx storage.Tx) error { return errorOf(byNumber(parley.NounRun, 1)(tx)) })
}

// findByPiece returns the ids that a piece of an id finds, in order.
func (f *fixture) findByPiece(noun parley.Noun, piece string, reader storage.IDReader) []storage.NamedID {
	f.Helper()
	p, ok := parley.ParseIDPiece(piece)
	if !ok {
		f.Fatalf("%q is no piece of an id", piece)
	}
	list := read(f, func(tx storage.Tx) ([]storage.NamedID, error) { return tx.Names().Like(noun, p, reader, 9) })
	slices.SortFunc(list, func(a, b storage.NamedID) int { return strings.Compare(a.ID, b.ID) })
	return list
}

const (
	someID  = "0a1b2c3d-0000-7000-8000-00000000a1b2"
	otherID = "0a1b2c3e-0000-7000-8000-00000000a1b3"
	farID   = "ffffffff-0000-7000-8000-0000000a1b2c" // ends as the first begins
)

func foundByPiece(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	ids := []string{someID, otherID, farID}
	for i, id := range ids {
		m, r, a := newMessage(c.ID, "arya", "hello"), newRun("arya", c.ID), newApproval(id)
		m.ID, r.ID, a.ID, r.Number, a.Number = id, id, id, int64(i+1), int64(i+1)
		f.post(m)
		f.runs(r)
		f.approvals(a)
	}
	for _, noun := range []parley.Noun{parley.NounMessage, parley.NounRun, parley.NounApproval} {
		for piece, want := range map[string]string{
			"0a1b2c3d":                         someID,
			"0A1B2C3D-0":                       someID,
			"0a1b2c3d0000700080000000000":      someID,
			"00a1b2":                           someID,
			"000a1b2":                          someID,
			"8000-00000000a1b3":                otherID,
			"0a1b2c":                           someID + " " + otherID + " " + farID,
			"00000a1b2c":                       farID,
			"ffffff":                           farID,
			"0a1b2c3":                          someID + " " + otherID,
			"a1b2c3d0":                         "",
			strings.ReplaceAll(farID, "-", ""): farID,
		} {
			got := joinEach(f.findByPiece(noun, piece, storage.IDReader{}), func(n storage.NamedID) string { return n.ID })
			f.same(fmt.Sprintf("%s %s", noun, piece), got, want)
		}
	}
	f.same("with its number", f.findByPiece(parley.NounRun, "ffffff", storage.IDReader{}), []storage.NamedID{{ID: farID, Number: 3}})
	f.same("of no noun", f.findByPiece("agent", "ffffff", storage.IDReader{}), []storage.NamedID(nil))
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.same("messages of a deleted conversation", f.findByPiece(parley.NounMessage, "ffffff", storage.IDReader{}), []storage.NamedID(nil))
	f.same("runs of a deleted conversation", f.findByPiece(parley.NounRun, "ffffff", storage.IDReader{}), []storage.NamedID(nil))
}

func foundByReader(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	secret := newChannel("secret", "arya")
	secret.Visibility = parley.Private
	secret = f.conversation(secret, "arya")
	open := f.channel("open", "arya")
	hidden, seen, mailed := newMessage(secret.ID, "arya", "hello"), newMessage(open.ID, "arya", "hello"), newMessage(secret.ID, "arya", "hello")
	hidden.ID, seen.ID, mailed.ID = "0a1b2c3d-0000-7000-8000-000000000001", "0a1b2c3d-0000-7000-8000-000000000002", "0a1b2c3d-0000-7000-8000-000000000003"
	f.post(hidden)
	f.post(seen)
	f.deliver(f.post(mailed), "gendry")
	ends := func(noun parley.Noun, reader storage.IDReader) string {
		f.Helper()
		return joinEach(f.findByPiece(noun, "0a1b2c", reader), func(n storage.NamedID) string { return n.ID[len(n.ID)-1:] })
	}
	f.same("arya reads all", ends(parley.NounMessage, storage.IDReader{ID: "arya"}), "1 2 3")
	f.same("gendry reads the public channel and his mail", ends(parley.NounMessage, storage.IDReader{ID: "gendry"}), "2 3")
	f.same("sansa reads the public channel", ends(parley.NounMessage, storage.IDReader{ID: "sansa"}), "2")
	f.same("the hub reads all", ends(parley.NounMessage, storage.IDReader{}), "1 2 3")
	for i, agent := range []string{"arya", "gendry", "sansa"} {
		r, a := newRun(agent, secret.ID), newApproval(agent)
		r.ID = fmt.Sprintf("0a1b2c3d-0000-7000-8000-00000000000%d", i+1)
		a.ID, a.Agent, r.Number, a.Number = r.ID, agent, int64(i+1), int64(i+1)
		if agent == "sansa" {
			a.Decider = "arya"
		}
		f.runs(r)
		f.approvals(a)
	}
	for _, noun := range []parley.Noun{parley.NounRun, parley.NounApproval} {
		f.same("gendry's own "+string(noun), ends(noun, storage.IDReader{ID: "gendry"}), "2")
		f.same("gendry's and his reports' "+string(noun), ends(noun, storage.IDReader{ID: "gendry", Reports: []string{"arya"}}), "1 2")
		f.same("all of "+string(noun), ends(noun, storage.IDReader{}), "1 2 3")
	}
	f.same("arya's runs", ends(parley.NounRun, storage.IDReader{ID: "arya"}), "1")
	f.same("what arya decides", ends(parley.NounApproval, storage.IDReader{ID: "arya"}), "1 3")
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error {
		return errorOf(tx.Names().Like(parley.NounRun, "0a1b2c", storage.IDReader{ID: "nobody"}, 9))
	})
}

func foundUpToALimit(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	for i := range 9 {
		m := newMessage(c.ID, "arya", "hello")
		m.ID = fmt.Sprintf("aaaaaa00-0000-7000-800%d-000000aaaaaa", i) // begins and ends alike
		f.post(m)
	}
	list := read(f, func(tx storage.Tx) ([]storage.NamedID, error) {
		return tx.Names().Like(parley.NounMessage, "aaaaaa", storage.IDReader{}, 4)
	})
	f.same("so many", len(list), 4)
	f.same("each once", len(f.findByPiece(parley.NounMessage, "aaaaaa", storage.IDReader{})), 9)
}

func foundAmongTheNewest(f *fixture) {
	c, m := f.channelWithMessages(1)
	digits := strings.ReplaceAll(m[0].ID, "-", "")
	end := digits[len(digits)-12:]
	f.update(func(tx storage.Tx) error {
		for range storage.IDsLookedAt - 1 {
			if _, err := post(tx, newMessage(c.ID, "arya", "hello")); err != nil {
				return err
			}
		}
		return nil
	})
	f.same("the oldest that is looked at", len(f.findByPiece(parley.NounMessage, end, storage.IDReader{})), 1)
	f.posts(1, c.ID)
	f.same("one that is older", len(f.findByPiece(parley.NounMessage, end, storage.IDReader{})), 0)
	f.same("by more of its beginning", len(f.findByPiece(parley.NounMessage, digits[:31], storage.IDReader{})), 1)
}

// NumberedByAge checks a store that an older program has written. The store has runs and approvals of arya whose ids, without
// zeros, are 3, 1 and 2 in the order of age. The second and the third have the same time.
func NumberedByAge(t *testing.T, s storage.Store) {
	t.Helper()
	f := &fixture{t, s}
	for _, n := range numberedRows(newID()) {
		for number, id := range []int{3, 1, 2} {
			want := fmt.Sprintf("00000000-0000-0000-0000-%012d", id)
			got := read(f, func(tx storage.Tx) (string, error) { return tx.Names().Numbered(n.noun, int64(number+1)) })
			f.same(fmt.Sprintf("%s %d", n.noun, number+1), got, want)
			f.same("its number", read(f, func(tx storage.Tx) (int64, error) { return n.get(tx, want) }), int64(number+1))
		}
		var next int64
		f.update(func(tx storage.Tx) (err error) {
			next, err = n.next(tx)
			return err
		})
		f.same("the next", next, int64(4))
	}
}
