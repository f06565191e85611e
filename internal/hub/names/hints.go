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

// HintFor says what an unknown name may have been meant as, or how to see all there are. Nothing where nobody can say.
func HintFor(u *unit.Unit, caller unit.Caller, missing unit.Unknown) (string, error) {
	if len(missing.Name) > conversations.LongestRef {
		return "", nil
	}
	switch missing.Noun {
	case "agent":
		names, err := u.Agents().Names()
		return parley.DidYouMean(parley.Nearest(strings.TrimLeft(missing.Name, "#@"), names), "see who there is: parley agent list"), err
	case "conversation":
		if err := u.Enter(caller); err != nil {
			return "", err
		}
		return conversationHint(u, parley.ParseConversationRef(missing.Name))
	case "bridge": // for which only owners ask
		names, err := unit.BridgeNames(u.Tx)
		all := "see which there are: parley bridge list"
		near := parley.Nearest(missing.Name, names)
		if len(near) == 0 {
			return all, err
		}
		return parley.DidYouMean(near, "") + " S" + all[1:], err // few know their ids by heart
	case "artifact":
		return "store it first, then refer to it", nil
	default:
		return pieceHint(missing), nil
	}
}

// conversationHint says which conversation may have been meant, or how to begin one.
func conversationHint(u *unit.Unit, ref parley.ConversationRef) (string, error) {
	const all = "see which there are: parley conv list"
	if ref.Mine {
		return directHint(u, ref.Members, all)
	}
	names, err := ConversationNames(u)
	wrong := ref.Name
	if name, whole := parley.Slug(wrong); whole { // only names are suggested: a display name is somebody's text
		wrong = name
	}
	return parley.DidYouMean(parley.Nearest(wrong, names), all), err
}

// directHint is conversationHint for the members of a conversation without a name.
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
			return parley.DidYouMean(near, "see who there is: parley agent list"), err
		}
		if err != nil || a.ID == u.Me.ID {
			return all, nil
		}
		ids = append(ids, a.ID)
	}
	return "begin it: parley chat " + strings.Join(ids, " "), nil
}

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
