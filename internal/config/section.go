package config

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// The sections whose content other packages parse.
const (
	runtimes  = "runtimes"
	providers = "providers"
	notify    = "notify"
)

var sections = []string{runtimes, providers, notify}

// section is a part of the file that other packages parse.
type section struct {
	names  []string
	source string
	text   []byte
}

// keepSection keeps the text below a name. Each part of a section has a name of its own.
func (f file) keepSection(name string, value *ast.MappingValueNode) error {
	line := lineOf(value.Key)
	if _, twice := f.sections[name]; twice {
		return f.errorAt(line, "%s is set twice", name)
	}
	section := section{source: fmt.Sprintf("%s:%d", f.path, line)}
	switch v := value.Value.(type) {
	case *ast.NullNode:
	case ast.MapNode:
		for all := v.MapRange(); all.Next(); {
			section.names = append(section.names, all.Key().String())
		}
	default:
		return f.errorAt(line, "%s must have names, each with settings below it", name)
	}
	text, ok := f.cut(line, name)
	if !ok {
		return f.errorAt(line, "cannot read %s here", name).Suggest("write %s on a line of its own, without braces around it", name)
	}
	section.text = text
	f.sections[name] = section
	return nil
}

// cut returns the file with blanks in place of everything outside of the section that begins on a line.
func (f file) cut(line int, name string) ([]byte, bool) {
	lines := bytes.SplitAfter(f.text, []byte("\n"))
	head := lines[line-1]
	before, _, found := bytes.Cut(head, []byte(":"))
	if !found || string(bytes.Trim(before, `"' `)) != name {
		return nil, false
	}
	text := bytes.Repeat([]byte("\n"), line-1)
	text = append(text, bytes.Repeat([]byte(" "), len(before)+1)...)
	text = append(text, head[len(before)+1:]...)
	for _, next := range lines[line:] {
		if !isPartOfSection(next, indentation(head)) {
			break
		}
		text = append(text, next...)
	}
	return text, true
}

// isPartOfSection reports whether a line belongs to the section with a given indentation: it is indented more, is empty
// or a comment, or closes a bracket.
func isPartOfSection(line []byte, in int) bool {
	says := bytes.TrimSpace(line)
	return len(says) == 0 || indentation(line) > in || bytes.ContainsAny(says[:1], "#}]")
}

func indentation(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }
