package connect

import (
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley/internal/connect/jsonc"
)

// jsonHook is a hook in a list of a JSON document.
type jsonHook struct {
	path    []string
	client  string
	event   string // of the command; the list may be that of another one
	command string
	value   object
}

// isOurs reports whether an item of the list is a hook of Parley for the event, or a group of such hooks.
func (h jsonHook) isOurs(item []byte) bool {
	inner := hooksIn(item)
	return isHook(item, h.client, h.event) ||
		len(inner) > 0 && allOf(inner, func(hook json.RawMessage) bool { return isHook(hook, h.client, h.event) })
}

func (h jsonHook) isIn(text []byte) (bool, error) {
	raw, found, err := jsonc.Get(orEmptyJSON(text), h.path...)
	var list []json.RawMessage
	if err != nil || !found || json.Unmarshal(raw, &list) != nil {
		return false, err
	}
	return slices.ContainsFunc(list, func(item json.RawMessage) bool {
		return slices.ContainsFunc(append(hooksIn(item), item), func(hook json.RawMessage) bool {
			var of struct{ Command string }
			return json.Unmarshal(hook, &of) == nil && of.Command == h.command
		})
	}), nil
}

func (h jsonHook) apply(text []byte) ([]byte, error) {
	text = orEmptyJSON(text)
	if is, err := h.isIn(text); is || err != nil {
		return text, err
	}
	text, err := h.remove(text)
	if err != nil {
		return nil, err
	}
	return jsonc.Append(text, h.path, h.value)
}

// remove takes out all hooks of Parley for the event, also those of another agent.
func (h jsonHook) remove(text []byte) ([]byte, error) {
	text, err := jsonc.RemoveItems(text, h.path, h.isOurs)
	if err != nil {
		return nil, err
	}
	return jsonc.RemoveInner(text, h.path, "hooks", func(hook []byte) bool { return isHook(hook, h.client, h.event) })
}

func (h jsonHook) revert(text, before []byte) ([]byte, error) {
	if was, err := h.isIn(before); text == nil || was || err != nil {
		return text, err
	}
	text, err := h.remove(text)
	if err != nil {
		return nil, err
	}
	return removeParents(text, before, h.path)
}
