package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object that keeps the order and the exact text of its members.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// parseObject parses a valid JSON object. It returns nil for any other value.
func parseObject(raw []byte) object {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	parsed := object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		name, _ := key.(string)
		parsed = append(parsed, member{name, value})
	}
	return parsed
}

func (o object) index(key string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.key == key })
}

func (o object) has(key string) bool { return o.index(key) >= 0 }

// raw returns the text of a member, or nil if it is missing.
func (o object) raw(key string) json.RawMessage {
	if i := o.index(key); i >= 0 {
		return o[i].value
	}
	return nil
}

// text returns a member that is a string, or "".
func (o object) text(key string) (s string) {
	_ = json.Unmarshal(o.raw(key), &s) // any other value leaves ""
	return s
}

// object returns a member that is an object, or nil.
func (o object) object(key string) object { return parseObject(o.raw(key)) }

// set replaces a member, or adds it at the end.
func (o *object) set(key string, value any) {
	raw := marshal(value)
	if i := o.index(key); i >= 0 {
		(*o)[i].value = raw
		return
	}
	*o = append(*o, member{key, raw})
}

// setInner sets a member of the object in another member. It creates a missing object.
func (o *object) setInner(key, inner string, value any) {
	in := o.object(key)
	in.set(inner, value)
	o.set(key, in)
}

func (o *object) remove(key string) {
	if i := o.index(key); i >= 0 {
		*o = slices.Delete(*o, i, i+1)
	}
}

// removeInner removes a member of the object in another member. If the object is then empty, it removes the object too.
func (o *object) removeInner(key, inner string) {
	in := o.object(key)
	if !in.has(inner) {
		return
	}
	if in.remove(inner); len(in) == 0 {
		o.remove(key)
		return
	}
	o.set(key, in)
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, marshal(m.key)...), ':'), m.value...)
	}
	return append(out, '}'), nil
}

// marshal encodes JSON without escaping HTML characters. It panics for a value that has no JSON; callers pass no such value.
func marshal(value any) json.RawMessage {
	switch value := value.(type) {
	case json.RawMessage:
		return value
	case object:
		raw, _ := value.MarshalJSON()
		return raw
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // a type that has no JSON
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
