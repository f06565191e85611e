package connect

import (
	"bytes"
	"encoding/json"

	"github.com/parley-hub/parley/internal/connect/jsonc"
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
