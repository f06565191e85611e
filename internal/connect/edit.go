package connect

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/parley-hub/parley/internal/connect/jsonc"
	"github.com/parley-hub/parley/internal/connect/toml"
)

// edit is one thing that Parley adds to a file.
type edit interface {
	// apply returns the text with the addition. The text of a file that does not exist is nil. A text that has the addition comes
	// back unchanged.
	apply(text []byte) ([]byte, error)
	// revert returns the text without the addition, or nil if nothing of the file is left. before is the text as it was before
	// apply: what it already had stays.
	revert(text, before []byte) ([]byte, error)
	// isIn reports whether a text has the addition.
	isIn(text []byte) (bool, error)
}

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(m.key); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// emptyJSON is the text from which a new JSON file begins.
const emptyJSON = "{}\n"

func orEmptyJSON(text []byte) []byte {
	if text == nil {
		return []byte(emptyJSON)
	}
	return text
}

// nilIfEmpty returns nil for a document without members that did not exist before.
func nilIfEmpty(text, before []byte) []byte {
	if before == nil && jsonc.IsEmpty(text) {
		return nil
	}
	return text
}

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

// jsonHook is a hook in a list of a JSON document.
type jsonHook struct {
	path    []string
	client  string
	command string
	value   object
}

func (h jsonHook) event() string { return h.path[len(h.path)-1] }

// isOurs reports whether an item of the list is a hook of Parley for the event, or a group of such hooks.
func (h jsonHook) isOurs(item []byte) bool {
	inner := hooksIn(item)
	return isHook(item, h.client, h.event()) ||
		len(inner) > 0 && allOf(inner, func(hook json.RawMessage) bool { return isHook(hook, h.client, h.event()) })
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
	return jsonc.RemoveInner(text, h.path, "hooks", func(hook []byte) bool { return isHook(hook, h.client, h.event()) })
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

// tomlTable is a table of a TOML document: the registration of the MCP server of Codex.
type tomlTable struct {
	path  []string
	pairs []toml.Pair
}

func (t tomlTable) apply(text []byte) ([]byte, error) {
	if is, err := t.isIn(text); is || err != nil {
		return text, err
	}
	if isURL, err := toml.HasKey(text, t.path, "url"); err != nil || isURL {
		if text, err = toml.Remove(text, t.path); err != nil {
			return nil, err
		}
	}
	return toml.Set(text, t.path, t.pairs)
}

func (t tomlTable) isIn(text []byte) (bool, error) { return toml.Has(text, t.path, t.pairs) }

func (t tomlTable) revert(text, before []byte) ([]byte, error) {
	if ours, err := toml.Has(text, t.path, t.pairs[:1]); !ours || err != nil {
		return text, err // somebody has registered another server under this name
	}
	text, err := toml.Remove(text, t.path)
	if err != nil {
		return nil, err
	}
	if text, err = toml.AddLines(text, toml.Lines(before, t.path)); err != nil {
		return nil, err
	}
	if before == nil && len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	return text, nil
}

// wholeFile is a file that Parley writes as a whole.
type wholeFile struct{ text []byte }

func (w wholeFile) apply(text []byte) ([]byte, error) {
	if text != nil && !w.isOurs(text) {
		return nil, errNotOurs
	}
	return w.text, nil
}

// isOurs compares the first lines, which say who has written a file.
func (w wholeFile) isOurs(text []byte) bool {
	first, _, _ := bytes.Cut(w.text, []byte("\n"))
	return bytes.HasPrefix(text, first)
}

func (w wholeFile) isIn(text []byte) (bool, error) { return bytes.Equal(text, w.text), nil }

func (w wholeFile) revert(text, before []byte) ([]byte, error) {
	if !w.isOurs(text) {
		return text, nil
	}
	return before, nil
}
