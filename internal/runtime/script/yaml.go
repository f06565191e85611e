package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/parley-hub/parley"
)

// value is a part of the rules. Errors about it contain its name.
type value struct {
	name string
	node ast.Node
}

// parseYAML parses a text that must have exactly one document.
func parseYAML(text string) (value, error) {
	tokens := lexer.Tokenize(text)
	if err := checkNesting(tokens); err != nil {
		return value{}, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return value{}, errorAt(syntax.GetToken().Position.Line, "%s", syntax.GetMessage())
	}
	if err != nil {
		return value{}, errorAt(1, "%v", err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return value{}, errorAt(1, "the rules must be one list").Suggest("begin each rule with “- match:” or “- else:”")
	}
	return value{"the rules", parsed.Docs[0].Body}, nil
}

// maxNesting is how many brackets may be open at once, and how many dashes may begin a line.
const maxNesting = 32

// checkNesting refuses rules that are nested too deeply, because the time of the parser grows with the square of the depth.
func checkNesting(tokens token.Tokens) error {
	open, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		case token.SequenceEntryType:
			dashes++
		}
		if open > maxNesting || dashes > maxNesting {
			return errorAt(line, "lists are nested more than %d deep", maxNesting)
		}
	}
	return nil
}

func errorAt(line int, format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, "rules, line %d: %s", line, fmt.Sprintf(format, args...)).
		Suggest("see docs/runtimes/script.md")
}

// errorf returns an E003 error about this value, with its line.
func (v value) errorf(format string, args ...any) *parley.Error {
	line := 1
	if t := v.node.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return errorAt(line, format, args...)
}

// list returns the values of a list.
func (v value) list() ([]value, error) {
	sequence, ok := v.node.(*ast.SequenceNode)
	if !ok {
		return nil, v.errorf("%s must be a list", v.name)
	}
	var list []value
	for _, node := range sequence.Values {
		list = append(list, value{v.name, node})
	}
	return list, nil
}

// fields returns the values of a mapping by key. It returns an error if the mapping has a key that is not allowed, or a key
// twice.
func (v value) fields(allowed ...string) (map[string]value, error) {
	var pairs []*ast.MappingValueNode
	switch n := v.node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, v.errorf("%s must have keys and values", v.name).Suggest("use %s", strings.Join(allowed, ", "))
	}
	fields := map[string]value{}
	for _, pair := range pairs {
		key := value{v.name, pair.Key}
		name, ok := scalar(pair.Key)
		switch _, twice := fields[name]; {
		case !ok || !slices.Contains(allowed, name):
			return nil, key.errorf("%s has no %q", v.name, pair.Key.GetToken().Value).Suggest("use %s", strings.Join(allowed, ", "))
		case twice:
			return nil, key.errorf("%s has %q twice", v.name, name)
		}
		fields[name] = value{name, pair.Value}
	}
	return fields, nil
}

// scalar returns the text of a plain value. It returns false for lists and mappings.
func scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

// text returns a text, which must not be empty.
func (v value) text() (string, error) {
	text, ok := scalar(v.node)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return "", v.errorf("%s must be a text", v.name)
	}
	return text, nil
}

// texts returns one text, or the texts of a list.
func (v value) texts() ([]string, error) {
	if _, plain := scalar(v.node); plain {
		text, err := v.text()
		return []string{text}, err
	}
	list, err := v.list()
	if err != nil {
		return nil, v.errorf("%s must be a text or a list of texts", v.name)
	}
	var texts []string
	for _, item := range list {
		text, err := item.text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// boolean returns a value that must be true or false.
func (v value) boolean() (bool, error) {
	if n, ok := v.node.(*ast.BoolNode); ok {
		return n.Value, nil
	}
	return false, v.errorf("%s must be true or false", v.name)
}

// fraction returns a number, which must be from 0 to 1.
func (v value) fraction() (float64, error) {
	text, _ := scalar(v.node)
	number, err := strconv.ParseFloat(text, 64)
	if err == nil && number >= 0 && number <= 1 { // NaN fails this comparison
		return number, nil
	}
	return 0, v.errorf("%s must be a number from 0 to 1", v.name)
}

// count returns a whole number, which must be from 1 to limit.
func (v value) count(limit int) (int, error) {
	text, _ := scalar(v.node)
	if number, err := strconv.Atoi(text); err == nil && number >= 1 && number <= limit {
		return number, nil
	}
	return 0, v.errorf("%s must be a whole number from 1 to %d", v.name, limit)
}

// duration returns a duration like 500ms, 2s or 5m, which must be at most limit.
func (v value) duration(limit time.Duration) (time.Duration, error) {
	text, _ := scalar(v.node)
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > limit {
		return 0, v.errorf("%s must be a duration such as 500ms, 2s or 5m, at most %s", v.name, limit)
	}
	return d, nil
}
