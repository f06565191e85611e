package arrivals

import (
	"path"

	"github.com/parley-hub/parley/internal/hub/trees"
)

// Inbox is the folder that a document was found in.
func (l *Landing) Inbox() string { return path.Dir(l.Path) }

func (l *Landing) Keepable() bool { return trees.Keepable(l.Path, l.Digest, l.Name, l.From) }
