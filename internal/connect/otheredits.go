package connect

import (
	"bytes"

	"github.com/parley-hub/parley/internal/connect/toml"
)

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
