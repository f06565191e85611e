// Package trees holds which agents live in directory trees, which bridge a tree belongs to, and whether a message can reach an
// agent there.
package trees

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Only this file writes the rows of this package.

// SaveFile stores a file that arrived, and the message that it became. It returns parley.ErrTaken if the file is stored already.
func SaveFile(tx storage.Tx, row storage.FileRow) error {
	return tx.Bridges().AddFile(row)
}

// CheckNotListed returns E003 if a bridge lists an agent that is to be removed. Otherwise the bridge would list an agent that
// does not exist.
func CheckNotListed(u *unit.Unit, id string) error {
	trees, err := u.Bridges().List()
	if err != nil {
		return err
	}
	for _, b := range trees {
		if !b.HasAgent(id) {
			continue
		}
		refused := parley.Errorf(parley.BadInput, "%s cannot be removed, because the bridge %s lists it", id, b.ID).Because(parley.Conflict)
		others := slices.DeleteFunc(slices.Clone(b.Agents), func(other string) bool { return other == id })
		if len(others) == 0 {
			return refused.Suggest("the bridge lists no other agent, so remove the bridge first: parley bridge remove %s", b.ID)
		}
		return refused.Suggest("remove the agent from the bridge first: parley bridge set %s --agents %s", b.ID, strings.Join(others, ","))
	}
	return nil
}

// Bridge finds a bridge. It returns unit.Unknown if there is none.
func Bridge(u *unit.Unit, id string) (parley.Bridge, error) {
	b, err := u.Bridges().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		err = unit.Unknown{Noun: "bridge", Name: id}
	}
	return b, err
}

// ViewBridge returns a bridge with its status and its state. A paused bridge has no trouble.
func ViewBridge(u *unit.Unit, b parley.Bridge) parley.BridgeView {
	view := parley.BridgeView{Bridge: b, Status: u.Core.BridgeStates.Look(b.ID)}
	if added := view.Status.Added; !added.IsZero() && !added.Equal(b.CreatedAt) { // a removed bridge with the same id has sent this status
		view.Status = parley.BridgeStatus{}
	}
	if b.Paused {
		view.Status.Trouble, view.Status.Stopped = "", false
	}
	view.State = view.CurrentState()
	return view
}

// CheckApart returns E003 if the tree of a bridge is inside or around another tree, because each bridge would then find the
// files of the other. It also compares the tree with the hub's home. A bridge that runs outside of the hub may run on
// another machine, so it is only compared with others that do.
func CheckApart(u *unit.Unit, b parley.Bridge, all []parley.Bridge) error {
	for _, other := range all {
		if other.Outside == b.Outside && overlap(other.Root, b.Root) {
			return parley.Errorf(parley.BadInput, "%s overlaps with %s, the tree of the bridge %s", b.Root, other.Root, other.ID).
				Because(parley.Conflict).Suggest("connect separate trees: no root may be inside another one")
		}
	}
	if home := u.Core.Config.About.Home; !b.Outside && home != "" && overlap(home, b.Root) {
		return parley.Errorf(parley.BadInput, "%s overlaps with the hub's home %s", b.Root, home).
			Because(parley.Conflict).Suggest("use a tree outside the home")
	}
	return nil
}

// overlap reports whether two directories are the same, or one is inside the other.
func overlap(a, b string) bool { return inside(a, b) || inside(b, a) }

// inside reports whether a directory is another one, or inside it.
func inside(inner, outer string) bool {
	return inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, string(filepath.Separator))+string(filepath.Separator))
}
