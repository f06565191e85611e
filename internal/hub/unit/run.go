package unit

import (
	"github.com/parley-hub/parley"
)

// TheHub is the caller of what the hub does by itself, and for its dispatcher.
var TheHub = Caller{Agent: parley.System}
