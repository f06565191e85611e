package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/parley-hub/parley"
)

// maxFileSize is the largest configuration file, in bytes.
const maxFileSize = 1 << 20

// readFile reads the settings in config.yaml. Nested maps are the parts of a key's name.
func readFile(path string) (file, error) {
	f := file{path: path, found: map[string]sourcedValue{}, sections: map[string]section{}}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil && info.Size() > maxFileSize {
		err = errors.New("the file is too large")
	}
	if err == nil {
		f.text, err = os.ReadFile(path)
	}
	if err != nil {
		return f, parley.Errorf(parley.BadInput, "cannot read the configuration %s: %w", path, err).
			Suggest("fix the file, or move it elsewhere")
	}
	return f, f.parse()
}

// file is a configuration file being read.
type file struct {
	path     string
	text     []byte
	found    map[string]sourcedValue
	sections map[string]section
}

func (f file) parse() error {
	parsed, err := parser.ParseBytes(f.text, 0)
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return f.errorAt(syntax.GetToken().Position.Line, "%s", syntax.GetMessage())
	}
	if err != nil {
		return f.errorAt(1, "%v", err)
	}
	for _, doc := range parsed.Docs {
		if err := f.walk("", doc.Body); err != nil {
			return err
		}
	}
	return nil
}

func (f file) errorAt(line int, format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, "%s:%d: %s", f.path, line, fmt.Sprintf(format, args...)).
		Suggest("see docs/configuration.md")
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// walk reads the settings below a name.
func (f file) walk(name string, node ast.Node) error {
	switch n := node.(type) {
	case nil, *ast.CommentGroupNode:
		return nil
	case *ast.MappingNode:
		for _, value := range n.Values {
			if err := f.walkValue(name, value); err != nil {
				return err
			}
		}
		return nil
	case *ast.MappingValueNode:
		return f.walkValue(name, n)
	default:
		return f.errorAt(lineOf(node), "%s must have settings such as addr: 127.0.0.1:7717", nameOrFile(name))
	}
}

func nameOrFile(name string) string {
	if name == "" {
		return "the file"
	}
	return name
}

func (f file) walkValue(under string, value *ast.MappingValueNode) error {
	part, ok := value.Key.(*ast.StringNode)
	if !ok {
		return f.errorAt(lineOf(value.Key), "%s is not the name of a setting", value.Key)
	}
	name := strings.TrimPrefix(under+"."+part.Value, ".")
	if slices.Contains(sections, name) {
		return f.keepSection(name, value)
	}
	if key, known := findKey(name); known {
		return f.setKey(key, value.Value)
	}
	if !isPartOfKey(name) {
		return f.unknownSetting(lineOf(value.Key), name)
	}
	return f.walk(name, value.Value)
}

func (f file) unknownSetting(line int, name string) error {
	names := slices.Clone(sections)
	for _, key := range allKeys {
		names = append(names, key.Name)
	}
	return f.errorAt(line, "unknown setting %q", name).
		Suggest("%s", parley.DidYouMean(parley.Nearest(name, names), "see docs/configuration.md for all settings"))
}

func (f file) setKey(key Key, node ast.Node) error {
	if _, twice := f.found[key.Name]; twice { // rate: {burst: 1} and rate.burst: 2
		return f.errorAt(lineOf(node), "%s is set twice", key.Name)
	}
	text, ok := scalarText(node)
	if !ok && key.isList {
		text, ok = listText(node)
	}
	if !ok {
		return f.errorAt(lineOf(node), "%s must be one value (%s)", key.Name, strings.ReplaceAll(key.Type, "`", ""))
	}
	f.found[key.Name] = sourcedValue{text, fmt.Sprintf("%s:%d", f.path, lineOf(node))}
	return nil
}

// scalarText returns the text of a plain value as it is written. It returns false for an alias, a tag or null.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

func listText(node ast.Node) (string, bool) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		return "", false
	}
	var texts []string
	for _, one := range sequence.Values {
		text, ok := scalarText(one)
		if !ok || strings.Contains(text, ",") {
			return "", false
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ","), true
}

func findKey(name string) (Key, bool) {
	for _, key := range allKeys {
		if key.Name == name {
			return key, true
		}
	}
	return Key{}, false
}

func isPartOfKey(name string) bool {
	for _, key := range allKeys {
		if strings.HasPrefix(key.Name, name+".") {
			return true
		}
	}
	return false
}
