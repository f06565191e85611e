package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var artifactTests = []test{
	{"a kept artifact is found, and keeping it again renews it", artifactKept},
	{"a failed update keeps no artifact", artifactUndone},
	{"an artifact is accessible to agents that stored it, and to agents that may read a message that refers to it", artifactKnown},
	{"a message counts once for each body it refers to", artifactCounted},
	{"a list goes through all digests in order", artifactList},
	{"an artifact without references that was not stored lately is unused, and can be forgotten", artifactUnused},
	{"an artifact with references cannot be forgotten", artifactNeeded},
	{"erasing a conversation drops its references, in portions", artifactPurged},
	{"a body can be removed while messages refer to it, and be stored again", artifactExpired},
	{"the oldest bodies come first", artifactOldest},
	{"totals count all bodies", artifactTotals},
	{"counts agree with what they count", artifactCounts},
}

// digest returns a digest that begins with the given digits.
func digest(begin string) string { return begin + strings.Repeat("a", 64-len(begin)) }

// keepBodies records that an agent has stored bodies of three bytes. It stores no bodies.
func (f *fixture) keepBodies(agent string, digests ...string) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		for _, d := range digests {
			if err := tx.Artifacts().Put(storage.StoredArtifact{SHA256: d, Size: 3, StoredAt: at(1)}, agent); err != nil {
				return err
			}
		}
		return nil
	})
}

// messageWithBodies returns a message from arya that refers to bodies.
func messageWithBodies(conversation string, digests ...string) parley.Message {
	m := newMessage(conversation, "arya", "see")
	for _, d := range digests {
		m.Content.Artifacts = append(m.Content.Artifacts, parley.Artifact{Name: "a", Size: 3, SHA256: d})
	}
	return m
}

func (f *fixture) artifact(d string) storage.StoredArtifact {
	f.Helper()
	return read(f, func(tx storage.Tx) (storage.StoredArtifact, error) { return tx.Artifacts().Get(d) })
}

func (f *fixture) unusedArtifacts(seconds, limit int) []string {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]string, error) { return tx.Artifacts().Unused(at(seconds), limit) })
}

func (f *fixture) forgetArtifact(d string, seconds int) (yes bool) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		yes, err = tx.Artifacts().Forget(d, at(seconds))
		return err
	})
	return yes
}

func artifactKept(f *fixture) {
	f.agents("arya", "gendry")
	for _, unknown := range []string{"", "no digest", digest("00"), digest("00")[:63]} {
		f.missing(unknown, func(tx storage.Tx) error { return errorOf(tx.Artifacts().Get(unknown)) })
	}
	f.keepBodies("arya", digest("00"))
	want := storage.StoredArtifact{SHA256: digest("00"), Size: 3, StoredAt: at(1)}
	f.same("kept", f.artifact(digest("00")), want)
	want.StoredAt = at(9)
	for _, agent := range []string{"arya", "gendry"} {
		f.update(func(tx storage.Tx) error { return tx.Artifacts().Put(want, agent) })
		f.same("kept again by "+agent, f.artifact(digest("00")), want)
	}
}

func artifactUndone(f *fixture) {
	before := f.fillStore()
	f.fails(errOwn, func(tx storage.Tx) error {
		a := storage.StoredArtifact{SHA256: digest("00"), StoredAt: at(1)}
		return errors.Join(tx.Artifacts().Put(a, "arya"),
			errorOf(post(tx, messageWithBodies(before.Conversations[0].ID, digest("00")))), errOwn)
	})
	f.same("afterwards", f.contents(), before)
}

func artifactKnown(f *fixture) {
	f.agents("arya", "gendry", "sansa", "ned")
	d := digest("00")
	known := func(want string) {
		f.Helper()
		got := read(f, func(tx storage.Tx) (readers []string, err error) {
			for _, id := range []string{"arya", "gendry", "sansa", "ned", "nobody"} {
				yes, known := tx.Artifacts().Accessible(d, id)
				if err = errors.Join(err, known); yes {
					readers = append(readers, id)
				}
			}
			return readers, err
		})
		f.same("agents that can access the artifact", strings.Join(got, " "), want)
	}
	known("")
	f.keepBodies("arya", d)
	known("arya")
	f.keepBodies("ned", d, digest("01"))
	known("arya ned")
	dm := f.conversation(newDM("arya", "gendry"), "arya", "gendry")
	f.post(messageWithBodies(dm.ID, d))
	known("arya gendry ned")
	private := newChannel("secret", "arya")
	private.Visibility = parley.Private
	f.post(messageWithBodies(f.conversation(private, "arya").ID, d))
	known("arya gendry ned")
	public := f.channel("general", "arya")
	f.post(messageWithBodies(public.ID, digest("01")))
	known("arya gendry ned")
	f.post(messageWithBodies(public.ID, d))
	known("arya gendry sansa ned")
	f.update(func(tx storage.Tx) error {
		return errors.Join(tx.Conversations().Delete(public.ID), tx.Conversations().Delete(dm.ID))
	})
	known("arya ned")
}

func artifactCounted(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	a, b := digest("00"), digest("01")
	f.keepBodies("arya", a, b)
	m := f.post(messageWithBodies(c.ID, b, a, b))
	f.post(messageWithBodies(c.ID, a))
	f.post(newMessage(c.ID, "arya", "without"))
	f.same("the first", f.artifact(a).Refs, int64(2))
	f.same("the second", f.artifact(b).Refs, int64(1))
	f.same("of a message", read(f, func(tx storage.Tx) ([]string, error) { return tx.Artifacts().OfMessage(m.ID) }), []string{a, b})
	f.same("of no message", len(read(f, func(tx storage.Tx) ([]string, error) { return tx.Artifacts().OfMessage(newID()) })), 0)
	f.keepBodies("arya", a)
	f.same("kept again", f.artifact(a).Refs, int64(2))
}

func artifactList(f *fixture) {
	f.agents("arya")
	all := []string{digest("00"), digest("01"), digest("7f"), digest("80"), digest("ff")}
	f.keepBodies("arya", all[3], all[0], all[4], all[2], all[1])
	for i := range len(all) + 1 {
		for limit := 1; limit <= 6; limit++ {
			after := ""
			if i > 0 {
				after = all[i-1]
			}
			got := read(f, func(tx storage.Tx) ([]storage.StoredArtifact, error) { return tx.Artifacts().List(after, limit) })
			want := all[i:min(i+limit, len(all))]
			f.same("list", joinEach(got, func(a storage.StoredArtifact) string { return a.SHA256 }), strings.Join(want, " "))
		}
	}
}

func artifactUnused(f *fixture) {
	f.agents("arya")
	d, later := digest("00"), digest("01")
	f.keepBodies("arya", d)
	f.update(func(tx storage.Tx) error {
		return tx.Artifacts().Put(storage.StoredArtifact{SHA256: later, StoredAt: at(5)}, "arya")
	})
	f.same("since it was stored", len(f.unusedArtifacts(1, 9)), 0)
	f.same("since later", f.unusedArtifacts(2, 9), []string{d})
	f.same("both", f.unusedArtifacts(6, 9), []string{d, later})
	f.same("up to the limit", f.unusedArtifacts(6, 1), []string{d})
	f.same("too early", f.forgetArtifact(d, 1), false)
	f.same("forgotten", f.forgetArtifact(d, 2), true)
	f.same("forgotten twice", f.forgetArtifact(d, 2), false)
	f.missing("what was forgotten", func(tx storage.Tx) error { return errorOf(tx.Artifacts().Get(d)) })
	f.same("accessible to the agent that stored it", read(f, func(tx storage.Tx) (bool, error) { return tx.Artifacts().Accessible(d, "arya") }), false)
	f.keepBodies("arya", d)
	f.same("kept anew", f.artifact(d).Size, int64(3))
}

func artifactNeeded(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.keepBodies("arya", digest("00"))
	f.post(messageWithBodies(c.ID, digest("00")))
	f.same("unused", len(f.unusedArtifacts(9, 9)), 0)
	f.same("forgotten", f.forgetArtifact(digest("00"), 9), false)
	f.same("still there", f.artifact(digest("00")).Refs, int64(1))
}

func artifactPurged(f *fixture) {
	f.agents("arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	a, b := digest("00"), digest("01")
	f.keepBodies("arya", a, b)
	for range 3 {
		f.post(messageWithBodies(c.ID, a, b))
	}
	f.post(messageWithBodies(other.ID, a))
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.same("before", f.artifact(a).Refs, int64(4))
	total := 0
	for n := f.purge(2); n > 0; n = f.purge(2) {
		if n > 2 {
			f.Errorf("%d rows erased, the limit is 2", n)
		}
		total += n
		f.same("counts", read(f, func(tx storage.Tx) ([]string, error) { return tx.Counts().Artifacts(9) }), []string(nil))
	}
	f.same("rows erased", total, 6+3+1)
	f.same("referred to elsewhere", f.artifact(a).Refs, int64(1))
	f.same("unused", f.unusedArtifacts(9, 9), []string{b})
}

func (f *fixture) expire(d string, storedBy int) (yes bool) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		yes, err = tx.Artifacts().Expire(d, at(storedBy), at(50))
		return err
	})
	return yes
}

func artifactExpired(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	d := digest("00")
	f.keepBodies("arya", d)
	m := f.post(messageWithBodies(c.ID, d))
	f.same("unknown", f.expire(digest("01"), 9), false)
	f.same("stored later", f.expire(d, 0), false)
	f.same("removed", f.expire(d, 1), true)
	f.same("removed again", f.expire(d, 1), false)
	f.same("what is known", f.artifact(d), storage.StoredArtifact{SHA256: d, Size: 3, StoredAt: at(1), Refs: 1, RemovedAt: atPointer(50)})
	f.same("of the message", read(f, func(tx storage.Tx) ([]string, error) { return tx.Artifacts().OfMessage(m.ID) }), []string{d})
	f.same("totals", read(f, func(tx storage.Tx) (parley.ArtifactTotals, error) { return tx.Artifacts().Totals() }), parley.ArtifactTotals{})
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return errorOf(post(tx, messageWithBodies(c.ID, d))) })
	f.keepBodies("arya", d)
	f.same("stored again", f.artifact(d), storage.StoredArtifact{SHA256: d, Size: 3, StoredAt: at(1), Refs: 1})
	f.post(messageWithBodies(c.ID, d))
	f.expire(d, 1)
	f.erase(0, 1<<40)
	f.same("unused when nobody refers to it", f.unusedArtifacts(9, 9), []string{d})
	f.same("forgotten", f.forgetArtifact(d, 9), true)
	f.requireExactCounts()
}

func artifactOldest(f *fixture) {
	f.agents("arya")
	for i, begin := range []string{"02", "00", "01"} {
		f.update(func(tx storage.Tx) error {
			return tx.Artifacts().Put(storage.StoredArtifact{SHA256: digest(begin), StoredAt: at(i)}, "arya")
		})
	}
	oldest := func(limit int) string {
		f.Helper()
		list := read(f, func(tx storage.Tx) ([]storage.StoredArtifact, error) { return tx.Artifacts().Oldest(limit) })
		return joinEach(list, func(a storage.StoredArtifact) string { return a.SHA256[:2] })
	}
	f.same("all", oldest(9), "02 00 01")
	f.same("two", oldest(2), "02 00")
	f.expire(digest("02"), 9)
	f.same("without what is removed", oldest(9), "00 01")
}

func artifactTotals(f *fixture) {
	totals := func() parley.ArtifactTotals {
		f.Helper()
		return read(f, func(tx storage.Tx) (parley.ArtifactTotals, error) { return tx.Artifacts().Totals() })
	}
	f.same("of none", totals(), parley.ArtifactTotals{})
	f.agents("arya")
	c := f.channel("general", "arya")
	f.keepBodies("arya", digest("00"), digest("01"))
	f.post(messageWithBodies(c.ID, digest("00")))
	f.post(messageWithBodies(c.ID, digest("00"), digest("01")))
	f.same("of two", totals(), parley.ArtifactTotals{Artifacts: 2, Bytes: 6, Refs: 3})
}

func artifactCounts(f *fixture) {
	f.fillStore()
	c := f.findConversation("general")
	f.keepBodies("arya", digest("00"), digest("01"))
	f.post(messageWithBodies(c.ID, digest("00")))
	f.channel("empty", "arya")
	f.view(checkCounts)
}

// checkCounts returns an error if a stored count differs from the number of rows that it counts.
func checkCounts(tx storage.Tx) error {
	for _, find := range []func(int) ([]string, error){
		tx.Counts().Conversations, tx.Counts().Artifacts, tx.Counts().Inboxes,
	} {
		if wrong, err := find(9); err != nil || len(wrong) > 0 {
			return errors.Join(err, fmt.Errorf("wrong counts: %q", wrong))
		}
	}
	return nil
}
