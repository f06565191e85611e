package storage

// RunPost is something a run has posted. Digest is of the call, so that a later attempt that makes the same
// call gets the same message.
type RunPost struct {
	Digest  string
	Message string
}
