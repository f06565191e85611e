package archive

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// exportVersion is the version of the form that ExportAll writes and Import reads.
const exportVersion = 3 // 1 had no rules, tasks and approvals, 2 had no notes

// line is one line of an export. Exactly one of its parts is set.
type line struct {
	exportHeader
	Agent        *parley.Agent         `json:"agent,omitempty"`
	Conversation *exportedConversation `json:"conversation,omitempty"`
	Permission   *parley.Permission    `json:"permission,omitempty"`
	Message      *parley.Message       `json:"message,omitempty"`
	Task         *parley.Task          `json:"task,omitempty"`
	Approval     *parley.Approval      `json:"approval,omitempty"`
	Note         *parley.Note          `json:"note,omitempty"`
	Damaged      *parley.Damage        `json:"damaged,omitempty"` // in place of a record that could not be read
	End          *exportEnd            `json:"end,omitempty"`
}

type exportHeader struct {
	Parley    string    `json:"parley,omitempty"` // "export"
	Version   int       `json:"version,omitempty"`
	Artifacts string    `json:"artifacts,omitempty"` // "by reference": their bodies are in backups
	Seq       int64     `json:"seq,omitempty"`       // the seq of the newest message in the export
	At        time.Time `json:"at,omitzero"`
}

type exportedConversation struct {
	parley.Conversation
	Members []exportedMember `json:"members"`
}

type exportedMember struct {
	Agent    string    `json:"agent"`
	JoinedAt time.Time `json:"joined_at"`
}

// exportEnd is the last line. It shows a reader that the export is complete.
type exportEnd struct {
	Agents        int `json:"agents"`
	Conversations int `json:"conversations"`
	Messages      int `json:"messages"`
	Permissions   int `json:"permissions,omitempty"`
	Tasks         int `json:"tasks,omitempty"`
	Approvals     int `json:"approvals,omitempty"`
	Notes         int `json:"notes,omitempty"`
	Damaged       int `json:"damaged,omitempty"` // messages, tasks, approvals and notes that could not be exported
}

// exporter writes an export. It leaves out content that is added after it began.
type exporter struct {
	*Service
	caller        unit.Caller
	out           io.Writer
	upTo          int64
	agents        map[string]bool
	conversations map[string]bool
	totals        exportEnd

	unreadable map[string]bool // tasks and approvals, by their ids
	unwritten  []parley.Damage // unreadable records that have no line yet
}

// ExportAll writes the whole hub as JSON lines: agents, conversations, permissions, tasks, messages in their order,
// approvals, and notes. Managers come before their agents. Tasks come before messages and approvals, so that an import can renumber them.
// Artifacts are references without bodies. A damaged message, task, approval or note has a line of its own and counts in the last
// line. Credentials, deliveries, runs, waits, notices and read cursors are left out. Only an owner may call it.
func (s *Service) ExportAll(ctx context.Context, caller unit.Caller, w io.Writer) error {
	out := bufio.NewWriter(w)
	e := &exporter{Service: s, caller: caller, out: out, agents: map[string]bool{}, conversations: map[string]bool{}, unreadable: map[string]bool{}}
	for _, part := range []func(context.Context) error{
		e.writeAgents, e.writeConversations, e.writePermissions, e.writeTasks, e.writeMessages, e.writeApprovals, e.writeNotes,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if err := e.writeLine(line{End: &e.totals}); err != nil {
		return err
	}
	return out.Flush()
}

func (e *exporter) writeLine(l line) error { return writeJSONLine(e.out, l) }

func (e *exporter) writeAgents(ctx context.Context) error {
	var list []parley.Agent
	err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
		if list, err = u.Agents().List(); err != nil {
			return err
		}
		_, e.upTo, err = u.Log().Bounds()
		return err
	})
	if err != nil {
		return err
	}
	header := exportHeader{Parley: "export", Version: exportVersion, Artifacts: "by reference", Seq: e.upTo, At: e.Now()}
	if err := e.writeLine(line{exportHeader: header}); err != nil {
		return err
	}
	byID := map[string]parley.Agent{}
	for _, a := range list {
		byID[a.ID] = a
	}
	for _, a := range list {
		if err := e.writeAgent(a, byID); err != nil {
			return err
		}
	}
	return nil
}

// writeAgent writes an agent after its managers, so that the import knows them.
func (e *exporter) writeAgent(a parley.Agent, byID map[string]parley.Agent) error {
	if e.agents[a.ID] {
		return nil
	}
	e.agents[a.ID] = true
	if manager, has := byID[a.Manager]; has {
		if err := e.writeAgent(manager, byID); err != nil {
			return err
		}
	}
	e.totals.Agents++
	return e.writeLine(line{Agent: &a})
}

func (e *exporter) writeConversations(ctx context.Context) error {
	for after := ""; ; {
		var page []exportedConversation
		err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) error {
			list, err := u.Conversations().Scan(after, exportPage)
			for _, c := range list {
				after = c.ID
				if err == nil && e.agents[c.CreatedBy] { // otherwise the conversation is newer than the list of agents
					page, err = e.appendConversation(u, page, c)
				}
			}
			if len(list) == 0 {
				after = ""
			}
			return err
		})
		if err != nil || after == "" {
			return err
		}
		for i := range page {
			e.totals.Conversations++
			e.conversations[page[i].ID] = true
			if err := e.writeLine(line{Conversation: &page[i]}); err != nil {
				return err
			}
		}
	}
}

func (e *exporter) appendConversation(u *unit.Unit, page []exportedConversation, c parley.Conversation) ([]exportedConversation, error) {
	members, err := u.Members().List(c.ID)
	exported := exportedConversation{Conversation: c, Members: []exportedMember{}}
	for _, m := range members {
		if e.agents[m.Agent] {
			exported.Members = append(exported.Members, exportedMember{m.Agent, m.JoinedAt})
		}
	}
	slices.SortFunc(exported.Members, func(a, b exportedMember) int { return cmp.Compare(a.Agent, b.Agent) })
	return append(page, exported), err
}

func (e *exporter) writeMessages(ctx context.Context) error {
	for after := int64(0); ; {
		var list []parley.Message
		err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
			list, err = u.Messages().Scan(after, exportPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			if m.Seq > e.upTo {
				return nil
			}
			if err := e.writeMessage(m); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Seq
	}
}

// writeMessage writes a message, or a line that names it if it is damaged.
func (e *exporter) writeMessage(m parley.Message) error {
	if m.Damage != nil {
		return e.writeDamaged(parley.Damage{What: "message", Seq: m.Seq, ID: m.ID, Why: m.Damage.Message})
	}
	e.totals.Messages++
	return e.writeLine(line{Message: &m})
}

func (e *exporter) writeDamaged(d parley.Damage) error {
	e.totals.Damaged++
	return e.writeLine(line{Damaged: &d})
}
