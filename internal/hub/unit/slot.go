package unit

import "sync"

// SharedSlot is the slot of a call that waits, such as a request to the MCP endpoint. One use case of the call at a time waits in this
// slot, and takes none of its own. It is safe for concurrent use.
type SharedSlot struct {
	mu    sync.Mutex
	call  Underway
	used  bool // a use case waits in the slot
	ended bool // the call has ended
}

// ShareSlot returns the slot of a call that waits. In place of the call, the caller must end the slot.
func ShareSlot(call Underway) *SharedSlot { return &SharedSlot{call: call} }

// Use lets a use case wait in the slot until it calls leave. It returns false if another one does, if the call has ended, or if there
// is no slot.
func (s *SharedSlot) Use() (leave func(), ok bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used || s.ended {
		return nil, false
	}
	s.used = true
	return sync.OnceFunc(s.leave), true
}

func (s *SharedSlot) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used = false; s.ended {
		s.call.End()
	}
}

// End ends the call. The slot is free once the use case that waits in it has ended too: an ask goes on when its request has ended.
func (s *SharedSlot) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; !s.used {
		s.call.End()
	}
}
