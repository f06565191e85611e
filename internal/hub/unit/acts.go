package unit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Beside is what a payload says beside some members, or nothing. What is null says nothing.
func Beside(payload json.RawMessage, members ...string) json.RawMessage {
	all := map[string]json.RawMessage{}
	if json.Unmarshal(payload, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(key string, value json.RawMessage) bool {
		return slices.Contains(members, key) || string(value) == "null"
	})
	if len(all) == 0 {
		return nil
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return nil // it was read before
	}
	return rest
}

// AsWords is a JSON value as a text: a string, what an object gives as its message, or else the value itself.
func AsWords(raw json.RawMessage) string {
	var (
		text   string
		object map[string]any
	)
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &object) == nil && len(object) == 0:
		return ""
	}
	for _, key := range []string{"message", "text"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return string(raw)
}

// Clipped is as much of a text as is kept of what is said in passing.
func Clipped(text string) string { return Storable(strings.TrimSpace(text)) }

// Listed is a few words in a row.
func Listed(items []string) string {
	const shown = 8
	if len(items) > shown {
		return strings.Join(items[:shown], ", ") + " …"
	}
	return strings.Join(items, ", ")
}
