package names

import (
	"errors"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FindHint returns a hint for an unknown name: similar names, or how to list all. It returns nothing if no hint would help.
func FindHint(u *unit.Unit, caller unit.Caller, missing unit.Unknown) (string, error) {
	if len(missing.Name) > conversations.MaxRefLength {
		return "", nil
	}
	switch missing.Noun {
	case "agent":
		names, err := u.Agents().Names()
		return parley.DidYouMean(parley.Nearest(strings.TrimLeft(missing.Name, "#@"), names), "list agents: parley agent list"), err
	case "conversation":
		if err := u.Enter(caller); err != nil {
			return "", err
		}
		return conversationHint(u, parley.ParseConversationRef(missing.Name))
	case "bridge": // only owners can name one
		names, err := unit.BridgeNames(u.Tx)
		all := "list bridges: parley bridge list"
		near := parley.Nearest(missing.Name, names)
		if len(near) == 0 {
			return all, err
		}
		return parley.DidYouMean(near, "") + " L" + all[1:], err // with the list too, because ids of bridges are hard to remember
	case "artifact":
		return "store it first, then refer to it", nil
	default:
		return pieceHint(missing), nil
	}
}

// conversationHint returns the hint for an unknown conversation: similar names, or how to begin it.
func conversationHint(u *unit.Unit, ref parley.ConversationRef) (string, error) {
	const all = "list conversations: parley conv list"
	if ref.Mine {
		return directHint(u, ref.Members, all)
	}
	names, err := ConversationNames(u)
	unknown := ref.Name
	if name, whole := parley.Slug(unknown); whole { // only names are suggested: a display name is text of a participant
		unknown = name
	}
	return parley.DidYouMean(parley.Nearest(unknown, names), all), err
}

// directHint returns the hint for an unknown conversation that is named by its members.
func directHint(u *unit.Unit, members []string, all string) (string, error) {
	var ids []string
	for _, name := range members {
		a, err := agents.Agent(u, name)
		if _, missing := errors.AsType[unit.Unknown](err); missing {
			names, err := u.Agents().Names()
			near := parley.Nearest(name, names)
			for i := range near {
				near[i] = "@" + near[i]
			}
			return parley.DidYouMean(near, "list agents: parley agent list"), err
		}
		if err != nil || a.ID == u.Me.ID {
			return all, nil
		}
		ids = append(ids, a.ID)
	}
	return "start it: parley chat " + strings.Join(ids, " "), nil
}

// ConversationNames returns the names of the channels and groups that the caller may read.
func ConversationNames(u *unit.Unit) ([]string, error) {
	filter := storage.ConversationFilter{Kinds: []parley.ConversationKind{parley.Channel, parley.Group}, Limit: unit.MaxSuggested}
	if !u.SeesAll() {
		filter.Reader = u.Me.ID
	}
	list, err := u.Conversations().List(filter)
	var names []string
	for _, c := range list {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names, err
}
