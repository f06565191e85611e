// Package hub puts the use cases together: everything that the HTTP API, the CLI, bridges and the hub's own services can call. Each
// subject is a package below this one. docs/architecture.md lists the packages and says which may use which.
package hub

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/archive"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/bridges"
	"github.com/parley-hub/parley/internal/hub/channels"
	"github.com/parley-hub/parley/internal/hub/clients"
	"github.com/parley-hub/parley/internal/hub/contact"
	"github.com/parley-hub/parley/internal/hub/decisions"
	"github.com/parley-hub/parley/internal/hub/delegation"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/memory"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/outcomes"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/roster"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/upkeep"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/service"
	"github.com/parley-hub/parley/internal/storage"
)

// The use cases of each subject. A Hub has the methods of all of them.
type (
	accessCases     = access.Service
	alertCases      = alerts.Service
	archiveCases    = archive.Service
	artifactCases   = artifacts.Service
	bridgeCases     = bridges.Service
	channelCases    = channels.Service
	clientCases     = clients.Service
	contactCases    = contact.Service
	decisionCases   = decisions.Service
	delegationCases = delegation.Service
	feedCases       = feed.Service
	inboxCases      = inbox.Service
	memoryCases     = memory.Service
	messageCases    = messages.Service
	noticeCases     = notices.Service
	outcomeCases    = outcomes.Service
	policyCases     = policy.Service
	postCases       = post.Service
	presenceCases   = presence.Service
	readingCases    = reading.Service
	rosterCases     = roster.Service
	runCases        = runs.Service
	turnCases       = turns.Service
	upkeepCases     = upkeep.Service
	workCases       = work.Service
)

// Hub is the use cases on one store. It is safe for concurrent use.
type Hub struct {
	*accessCases
	*alertCases
	*archiveCases
	*artifactCases
	*bridgeCases
	*channelCases
	*clientCases
	*contactCases
	*decisionCases
	*delegationCases
	*feedCases
	*inboxCases
	*memoryCases
	*messageCases
	*noticeCases
	*outcomeCases
	*policyCases
	*postCases
	*presenceCases
	*readingCases
	*rosterCases
	*runCases
	*turnCases
	*upkeepCases
	*workCases

	core     *unit.Core
	services []*service.Service
}

// New returns a hub on a store, and adds the two participants that every hub has: the hub itself, and the person who set it up.
func New(ctx context.Context, store storage.Store, config Config) (*Hub, error) {
	core := unit.NewCore(store, config.WithDefaults())
	h := &Hub{core: core}
	h.accessCases = access.New(core)
	h.runCases = runs.New(core)
	h.policyCases = policy.New(core)
	h.presenceCases = presence.New(core)
	h.noticeCases = notices.New(core)
	h.alertCases = alerts.New(core)
	h.artifactCases = artifacts.New(core, h.accessCases, h.alertCases)
	nameCases := names.New(core, h.accessCases)
	h.messageCases = messages.New(core)
	h.workCases = work.New(core)
	h.postCases = post.New(core, h.accessCases, nameCases)
	h.memoryCases = memory.New(core)
	h.inboxCases = inbox.New(core, h.accessCases, nameCases)
	h.clientCases = clients.New(core, nameCases, h.presenceCases, h.inboxCases)
	h.turnCases = turns.New(core, nameCases, h.clientCases)
	h.contactCases = contact.New(core, nameCases)
	h.delegationCases = delegation.New(core, nameCases, h.contactCases)
	h.channelCases = channels.New(core)
	h.readingCases = reading.New(core, h.accessCases, nameCases)
	h.feedCases = feed.New(core, h.presenceCases)
	h.archiveCases = archive.New(core, h.artifactCases, nameCases, h.channelCases, h.readingCases, h.memoryCases)
	h.rosterCases = roster.New(core)
	h.bridgeCases = bridges.New(core, h.rosterCases)
	h.decisionCases = decisions.New(core, h.accessCases, nameCases, h.contactCases, h.delegationCases, h.channelCases, h.readingCases, h.rosterCases)
	h.outcomeCases = outcomes.New(core, nameCases, h.delegationCases, h.readingCases, h.feedCases, h.decisionCases)
	h.upkeepCases = upkeep.New(core, h.presenceCases, h.alertCases, h.artifactCases, h.workCases, h.turnCases, h.feedCases, h.archiveCases,
		h.bridgeCases, h.decisionCases)

	core.Hooks = h.hooks()
	h.services = h.background()
	return h, roster.AddFirstAgents(ctx, core)
}

// hooks returns the functions that take part in every use case, and those that follow a change.
func (h *Hub) hooks() unit.Hooks {
	hooks := unit.Hooks{
		Heard: presence.NoteHeard,
		Hint:  names.FindHint,
		DeliveryChanged: []func(u *unit.Unit, before, after parley.Delivery) error{
			reports.CopyAnswered, // copies the answer to those who wait for it
			work.UpdatePurpose,   // moves the ask or the task that the message was for
			work.PassTurn,        // passes the turn to the next agent
		},
		DeliveryFailed: []func(u *unit.Unit, d parley.Delivery, cause *parley.Error) error{messages.TellFailed},
		BeforeCommit: []func(*unit.Unit) error{
			presence.SummarizeChangedTasks, // writes a new state summary of each agent whose tasks have changed
		},
		AfterCommit: []func(*unit.Changes){
			feed.AfterCommit(h.feedCases),     // wakes streams and followers
			access.AfterCommit(h.accessCases), // saves the head of the audit log
			h.core.AfterCommit,                // wakes waiting callers and the search index
			notices.AfterCommit(h.noticeCases),
		},
		Calls: unit.JoinCalls(contact.Calls(), post.Calls(h.postCases), delegation.Calls(h.delegationCases), decisions.Calls(h.decisionCases),
			channels.Calls(), memory.Calls(h.memoryCases)),
	}
	access.Hook(h.accessCases, &hooks)
	turns.Hook(h.turnCases, &hooks)
	return hooks
}

// background returns the services that run while the hub is started.
func (h *Hub) background() (services []*service.Service) {
	for _, run := range slices.Concat(
		feed.Background(h.feedCases), []unit.Background{h.core.Index.Run}, upkeep.Sweepers(h.upkeepCases), access.Background(h.accessCases),
		clients.Background(h.clientCases),
		outcomes.Background(h.outcomeCases), runs.Background(h.runCases), alerts.Background(h.alertCases), upkeep.Background(h.upkeepCases),
	) {
		services = append(services, service.New(run))
	}
	return services
}

// Me returns the participant that calls. Any credential is good for it.
func (h *Hub) Me(ctx context.Context, caller Caller) (parley.Agent, error) {
	return h.core.Me(ctx, caller)
}

// Start returns the leases that the hub's former process left, starts the services and waits until they are ready.
func (h *Hub) Start(ctx context.Context) {
	if err := h.Recover(ctx); err != nil {
		h.core.Config.Log.Error("cannot return the leases of the hub's former process; retrying", "error", err, "every", h.core.Config.DueEvery)
	}
	for _, s := range h.services {
		s.Start(ctx)
		<-s.Started()
	}
}

// Stop stops the services. The store stays open.
func (h *Hub) Stop() {
	for i := len(h.services) - 1; i >= 0; i-- {
		h.services[i].Stop()
	}
}
