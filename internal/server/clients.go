package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
)

// savedClients is the file with the connected clients. The next hub reads it, so that a client's shell is the client's agent before the
// client calls again.
type savedClients struct{ mu sync.Mutex }

// connectClient makes the client that a process on the local socket belongs to act as the caller, with all its descendants, until the
// client ends.
func (s *Server) connectClient(ctx context.Context, caller hub.Caller) {
	process, ok := ctx.Value(peerKey{}).(localPeer)
	if !ok || process.PID == 0 || caller.Agent == parley.Owner || process.connectedAs.Swap(caller.AgentUUID) == caller.AgentUUID {
		return
	}
	if s.peers.Connect(process.PID, parley.Agent{ID: caller.Agent, UUID: caller.AgentUUID}, s.Config.Clients) {
		s.saveClients()
	}
}

// saveClients saves the list of connected clients. Without it, the next hub refuses the commands of a client's shell until the client
// calls again. Where the system has no marks, it takes them for the owner's.
func (s *Server) saveClients() {
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	recognized := slices.DeleteFunc(s.peers.Connected(), func(c peer.Connected) bool { return c.Program == "" })
	text, err := json.Marshal(recognized)
	if err == nil {
		err = s.Home.SaveClientProcesses(text)
	}
	if err != nil {
		s.Log.Warn("cannot save the list of connected clients; after a restart, the hub does not know commands of their shells until they call again", "error", err)
	}
}

// restoreClients reads the connected clients of an earlier hub of this home.
func (s *Server) restoreClients() {
	var list []peer.Connected
	text, err := s.Home.ClientProcesses()
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		s.Log.Warn("cannot read the list of connected clients; the hub does not know commands of their shells until they call again", "error", err)
		return
	}
	s.peers.Restore(list, s.Config.Clients)
}

// clientProcesses returns the processes that act as agents.
func (s *Server) clientProcesses() (list []parley.ClientProcess) {
	for _, c := range s.peers.Connected() {
		list = append(list, c.ClientProcess)
	}
	return list
}
