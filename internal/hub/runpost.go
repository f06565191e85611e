package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// callDigest tells one call from another: the same call of a later attempt is not made again.
func callDigest(call any) (string, error) {
	raw, err := json.Marshal(call)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// postedByRun finds the run that posts, if one does, and returns what an earlier attempt of it has posted by
// the same call. E003, conflict, if the run is over.
func (s *scene) postedByRun(p *post) (first parley.Receipt, found bool, err error) {
	if p.run == "" {
		return first, false, nil
	}
	r, err := s.ownRun(p.run)
	if err != nil {
		return first, false, err
	}
	p.by = &r
	return s.repeated(r, p.call)
}

// ownRun finds a live run of the caller's own.
func (s *scene) ownRun(id string) (parley.Run, error) {
	r, err := s.liveRun(id)
	if err == nil && r.Agent != s.me.ID {
		err = parley.Errorf(parley.NotPermitted, "run %s is not one of %s", r.ID, s.me.ID).Suggest("use the token of the run")
	}
	return r, err
}

// repeated returns what an earlier attempt of a run has posted by the same call, and notes it as this run's.
// A call that was made twice is repeated twice.
func (s *scene) repeated(r parley.Run, call string) (first parley.Receipt, found bool, err error) {
	mine, err := s.Runs().Posts(r.ID)
	if err != nil {
		return first, false, err
	}
	earlier, err := s.earlier(r)
	for _, other := range earlier {
		posts, postsErr := s.Runs().Posts(other.ID)
		if err = errors.Join(err, postsErr); err != nil {
			return first, false, err
		}
		for _, p := range posts {
			if p.Digest != call || slices.Contains(mine, p) {
				continue
			}
			first, err = s.postedAs(p.Message)
			if _, hidden := errors.AsType[unknown](err); hidden {
				continue // it is gone, or cannot be read any more
			}
			if err == nil {
				err = s.Runs().Posted(r.ID, p)
			}
			return first, true, err
		}
	}
	return first, false, err
}

// earlier are the runs that the same messages have woken before, oldest first: earlier attempts.
func (s *scene) earlier(r parley.Run) ([]parley.Run, error) {
	var list []parley.Run
	known := map[string]bool{r.ID: true}
	for _, message := range r.Triggers {
		runs, err := s.Runs().WokenBy(message, r.Agent)
		if err != nil {
			return nil, err
		}
		for _, other := range runs {
			if !known[other.ID] && !other.State.Live() {
				known[other.ID] = true
				list = append(list, other)
			}
		}
	}
	return list, nil
}

// said are the messages that a run and its earlier attempts have posted, in order.
func (s *scene) said(r parley.Run) ([]parley.Message, error) {
	runs, err := s.earlier(r)
	if err != nil {
		return nil, err
	}
	return s.postedBy(append(runs, r)...)
}

// postedBy are the messages that runs have posted and that are still there, in order.
func (s *scene) postedBy(runs ...parley.Run) ([]parley.Message, error) {
	var ids []string
	for _, r := range runs {
		posts, err := s.Runs().Posts(r.ID)
		if err != nil {
			return nil, err
		}
		for _, p := range posts {
			if !slices.Contains(ids, p.Message) {
				ids = append(ids, p.Message)
			}
		}
	}
	return s.messages(ids)
}

// messages returns those of some messages that there are, in order, however large they are.
func (s *scene) messages(ids []string) (list []parley.Message, err error) {
	for left := ids; len(left) > 0; {
		part, err := s.Messages().GetAll(left)
		if err != nil || len(part) == 0 {
			return list, err
		}
		list = append(list, part...)
		left = slices.DeleteFunc(slices.Clone(left), func(id string) bool {
			return slices.ContainsFunc(part, func(m parley.Message) bool { return m.ID == id })
		})
	}
	sortBySeq(list)
	return list, nil
}
