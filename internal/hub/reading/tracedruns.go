package reading

import (
	"cmp"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// tracedRuns returns the runs that the messages woke, and those that posted them. An agent sees its own runs only, an owner
// sees all.
func tracedRuns(u *unit.Unit, list []parley.Shown) ([]parley.RunView, error) {
	known := map[string]parley.Run{}
	for _, m := range list {
		if err := addRunsOf(u, m, known); err != nil {
			return nil, err
		}
	}
	var views []parley.RunView
	for _, r := range known {
		posts, err := u.Runs().Posts(r.ID)
		if err != nil {
			return nil, err
		}
		view := parley.RunView{Run: r}
		for _, p := range posts {
			view.Posts = append(view.Posts, p.Message)
		}
		views = append(views, view)
	}
	slices.SortFunc(views, func(a, b parley.RunView) int { return cmp.Compare(a.ID, b.ID) })
	return views, nil
}

// addRunsOf adds the runs of one message to known.
func addRunsOf(u *unit.Unit, m parley.Shown, known map[string]parley.Run) error {
	var runs []parley.Run
	for _, d := range m.Deliveries {
		woken, err := u.Runs().WokenBy(m.ID, d.Recipient)
		if err != nil {
			return err
		}
		runs = append(runs, woken...)
	}
	poster, err := u.Runs().PostedBy(m.ID)
	if err == nil {
		runs = append(runs, poster)
	} else if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	for _, r := range runs {
		if r.Agent == u.Me.ID || u.SeesAll() {
			known[r.ID] = r
		}
	}
	return nil
}
