package trees

import (
	"path/filepath"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MustBeApart refuses a tree inside of another one, or around it: what one bridge writes, the other would find. So it is with
// the hub's own home. Those that run elsewhere may be on other machines, and are compared with each other only.
func MustBeApart(u *unit.Unit, b parley.Bridge, all []parley.Bridge) error {
	for _, other := range all {
		if other.Outside == b.Outside && overlap(other.Root, b.Root) {
			return parley.Errorf(parley.BadInput, "%s and %s, the tree of the bridge %s, are one inside of the other", b.Root, other.Root, other.ID).
				Because(parley.Conflict).Suggest("join each tree by its own root, none of which is in another")
		}
	}
	if home := u.Core.Config.About.Home; !b.Outside && home != "" && overlap(home, b.Root) {
		return parley.Errorf(parley.BadInput, "%s and the hub's home %s are one inside of the other", b.Root, home).
			Because(parley.Conflict).Suggest("put the tree beside the home")
	}
	return nil
}

// overlap says whether one of two directories is in the other, or is it.
func overlap(a, b string) bool { return inside(a, b) || inside(b, a) }

func inside(inner, outer string) bool {
	return inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, string(filepath.Separator))+string(filepath.Separator))
}
