package connect

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/parley-hub/parley/internal/connect/jsonc"
)

// jsonEntry is a member of a JSON document: the registration of the MCP server.
type jsonEntry struct {
	path  []string
	value object
}

// otherTransports are keys of a registration that does not start a program. Such a registration is replaced as a whole.
var otherTransports = []string{"url", "httpUrl", "serverUrl"}

func (e jsonEntry) apply(text []byte) ([]byte, error) {
	text = orEmptyJSON(text)
	raw, found, err := jsonc.Get(text, e.path...)
	if err != nil {
		return nil, err
	}
	var present map[string]json.RawMessage
	starts := func(key string) bool { _, there := present[key]; return !there }
	if !found || json.Unmarshal(raw, &present) != nil || present == nil || !allOf(otherTransports, starts) {
		return jsonc.Set(text, e.path, e.value)
	}
	for _, m := range e.value {
		if sameJSON(present[m.key], m.value) {
			continue
		}
		if text, err = jsonc.Set(text, slices.Concat(e.path, []string{m.key}), m.value); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func allOf[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(item T) bool { return !is(item) })
}

func (e jsonEntry) isIn(text []byte) (bool, error) {
	raw, found, err := jsonc.Get(orEmptyJSON(text), e.path...)
	if err != nil || !found {
		return false, err
	}
	var present map[string]json.RawMessage
	return json.Unmarshal(raw, &present) == nil && allOf(e.value, func(m member) bool { return sameJSON(present[m.key], m.value) }), nil
}

// sameJSON reports whether a piece of JSON has a value.
func sameJSON(raw json.RawMessage, value any) bool {
	want, err := json.Marshal(value)
	var a, b any
	return err == nil && json.Unmarshal(raw, &a) == nil && json.Unmarshal(want, &b) == nil && reflect.DeepEqual(a, b)
}

func (e jsonEntry) revert(text, before []byte) ([]byte, error) {
	raw, found, err := jsonc.Get(text, e.path...)
	if err != nil || !found {
		return text, err
	}
	var present map[string]json.RawMessage
	command := slices.IndexFunc(e.value, func(m member) bool { return m.key == "command" })
	if json.Unmarshal(raw, &present) != nil || !sameJSON(present["command"], e.value[command].value) {
		return text, nil // somebody has registered another server under this name
	}
	if _, was, err := jsonc.Get(orEmptyJSON(before), e.path...); err != nil || !was {
		return removeWithParents(text, before, e.path)
	}
	for _, m := range e.value {
		key := slices.Concat(e.path, []string{m.key})
		old, was, _ := jsonc.Raw(before, key...)
		switch {
		case !sameJSON(present[m.key], m.value):
			continue
		case was:
			text, err = jsonc.Set(text, key, json.RawMessage(old))
		default:
			text, err = jsonc.Remove(text, key...)
		}
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

// removeWithParents removes a member, and then the objects around it that are empty and that were not there before.
func removeWithParents(text, before []byte, path []string) ([]byte, error) {
	text, err := jsonc.Remove(text, path...)
	if err != nil {
		return nil, err
	}
	return removeParents(text, before, path[:len(path)-1])
}

func removeParents(text, before []byte, path []string) ([]byte, error) {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if _, was, err := jsonc.Get(orEmptyJSON(before), path...); err == nil && was {
			break
		}
		var err error
		if text, err = jsonc.RemoveEmpty(text, path...); err != nil {
			return nil, err
		}
	}
	return nilIfEmpty(text, before), nil
}

// jsonDefault is a member that a file needs, with the value for files that lack it.
type jsonDefault struct {
	key   string
	value any
}

func (d jsonDefault) apply(text []byte) ([]byte, error) {
	text = orEmptyJSON(text)
	if is, err := d.isIn(text); is || err != nil {
		return text, err
	}
	return jsonc.Set(text, []string{d.key}, d.value)
}

func (d jsonDefault) isIn(text []byte) (bool, error) {
	_, found, err := jsonc.Get(orEmptyJSON(text), d.key)
	return found, err
}

func (d jsonDefault) revert(text, before []byte) ([]byte, error) {
	if is, err := d.isIn(before); text == nil || is || err != nil {
		return text, err
	}
	without, err := jsonc.Remove(text, d.key)
	if err != nil || !sameDocument(without, orEmptyJSON(before)) {
		return text, err // others may need it now
	}
	return nilIfEmpty(without, before), nil
}

// sameDocument reports whether two documents have the same values.
func sameDocument(a, b []byte) bool {
	x, _, err1 := jsonc.Get(a)
	y, _, err2 := jsonc.Get(b)
	return err1 == nil && err2 == nil && sameJSON(x, json.RawMessage(y))
}
