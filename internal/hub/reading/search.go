package reading

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/search"
	"github.com/parley-hub/parley/internal/storage"
)

// searchWindow is how many of the newest matches are ranked together.
const searchWindow = 500

// Search finds messages that the caller may read. It waits a moment until the index has the caller's own last message, and says
// so if the index is still behind.
func (s *Service) Search(ctx context.Context, caller unit.Caller, r parley.SearchRequest) (parley.SearchResult, error) {
	query, err := search.Parse(r.Query)
	if err != nil {
		return parley.SearchResult{}, err
	}
	from, err := checkCursor(r.Cursor)
	if err != nil {
		return parley.SearchResult{}, err
	}
	// A caller that is no participant gets its error before the wait.
	var me string
	err = s.View(ctx, caller, unit.OpSearch, func(u *unit.Unit) error {
		me = u.Me.ID
		return policy.MustRead(u, unit.Origin{Caller: caller}, "")
	})
	if err != nil {
		return parley.SearchResult{}, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.Searching, Search: &r})
	}
	s.Index.Await(ctx, me)
	var (
		result parley.SearchResult
		found  storage.Matches
	)
	err = s.View(ctx, caller, unit.OpSearch, func(u *unit.Unit) error {
		mark, err := u.Search().Mark()
		if err != nil {
			return err
		}
		result.Behind = s.Index.Behind(u.Me.ID, mark)
		query, err := searchQuery(u, query)
		if err != nil {
			return err
		}
		query.Below, query.Limit = from.Below, searchWindow
		found, err = u.Search().Match(query)
		return err
	})
	if err != nil {
		return parley.SearchResult{}, err
	}
	fillPage(&result, query.All, found, from, unit.Clamp(r.Limit, 20, 100), s.Now())
	return result, s.nameConversations(ctx, caller, result.Hits)
}

// nameConversations adds the names of conversations to messages that a search found.
func (s *Service) nameConversations(ctx context.Context, caller unit.Caller, hits []parley.Hit) error {
	if len(hits) == 0 {
		return nil
	}
	return s.View(ctx, caller, unit.OpSearch, func(u *unit.Unit) error {
		names := map[string]string{}
		for i, hit := range hits {
			name, known := names[hit.Conversation]
			if !known {
				c, err := u.Conversations().Find(hit.Conversation)
				if unit.IgnoreNotFound(err) != nil {
					return err
				}
				name = c.Name
				names[hit.Conversation] = name
			}
			hits[i].Channel = name
		}
		return nil
	})
}

func checkCursor(c *parley.SearchCursor) (parley.SearchCursor, error) {
	if c == nil {
		return parley.SearchCursor{}, nil
	}
	if c.Below <= 0 || c.Skip < 0 {
		return *c, parley.Errorf(parley.BadInput, "the cursor does not belong to this search").Suggest("start without a cursor")
	}
	return *c, nil
}

// searchQuery replaces the names in a query by ids, and restricts it to what the caller may read.
func searchQuery(u *unit.Unit, query search.Query) (q storage.SearchQuery, err error) {
	q = storage.SearchQuery{
		All: query.All, None: query.None, Type: query.Type, Task: query.Task, Trace: query.Trace,
		Before: query.Before, After: query.After, Unanswered: query.Unanswered,
	}
	if q.From, err = agents.Named(u, query.From); err != nil {
		return q, err
	}
	q.To = parley.All
	if !post.IsForAll(query.To) {
		if q.To, err = agents.Named(u, query.To); err != nil {
			return q, err
		}
	}
	if query.In != "" {
		p, err := conversations.Conversation(u, query.In)
		if err != nil {
			return q, err
		}
		q.Conversation = p.ID
	}
	if !u.SeesAll() {
		q.Reader = u.Me.ID
	}
	return q, nil
}

// fillPage ranks the matches and adds one page of them to the result.
func fillPage(r *parley.SearchResult, phrases []parley.Phrase, found storage.Matches, from parley.SearchCursor, limit int, now time.Time) {
	ranked := search.Rank(phrases, found.Messages, now)
	begin := min(from.Skip, len(ranked))
	end := min(begin+limit, len(ranked))
	for _, m := range ranked[begin:end] {
		r.Hits = append(r.Hits, parley.Hit{
			Message: m.ID, Seq: m.Seq, Conversation: m.Conversation, From: m.From, To: m.To, Type: m.Type, Task: m.Task,
			CreatedAt: m.CreatedAt, Snippet: search.NewSnippet(phrases, m),
		})
	}
	switch {
	case end < len(ranked):
		// New messages must not move the beginning of the next page.
		r.Next = &parley.SearchCursor{Below: found.Messages[0].Seq + 1, Skip: end}
	case found.Rest > 0:
		r.Next = &parley.SearchCursor{Below: found.Rest}
	}
}
