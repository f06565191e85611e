package command

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/parley-hub/parley"
)

//go:embed presets.yaml
var builtIn []byte

// Presets returns the built-in presets by name.
func Presets() map[string]Preset {
	presets, err := parse(builtIn, nil)
	if err != nil {
		panic(err) // a test checks that the built-in presets are valid
	}
	return presets
}

// ParsePresets parses the section runtimes of config.yaml, a map of presets by name, and returns these presets with the
// built-in ones. A preset with the name of a built-in one changes only the fields that it sets. ParsePresets returns E003 with
// the line of the first mistake.
func ParsePresets(text []byte) (map[string]Preset, error) {
	presets := Presets()
	own, err := parse(text, presets)
	for name, preset := range own {
		presets[name] = preset
	}
	return presets, err
}

// parse parses presets. Each preset starts with the fields of the preset of the same name in base.
func parse(text []byte, base map[string]Preset) (map[string]Preset, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	presets := map[string]Preset{}
	for _, doc := range file.Docs {
		values, err := presetEntries(doc.Body)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			if err := readPreset(presets, base, value); err != nil {
				return nil, err
			}
		}
	}
	return presets, nil
}

// presetEntries returns the entries of a document, one for each preset.
func presetEntries(node ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := node.(type) {
	case nil, *ast.CommentGroupNode, *ast.NullNode:
		return nil, nil
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	default:
		return nil, lineError(node.GetToken().Position.Line, "runtimes must be a map of names, like mine: {argv: [my-program], output: text}")
	}
}

func readPreset(into, base map[string]Preset, entry *ast.MappingValueNode) error {
	line := entry.Key.GetToken().Position.Line
	name := entry.Key.GetToken().Value
	preset, known := base[name]
	if !known {
		preset.Output = FormatText
	}
	if err := yaml.NodeToValue(entry.Value, &preset, yaml.Strict()); err != nil {
		return yamlError(err)
	}
	if err := preset.check(name); err != nil {
		return lineError(line, "runtime %s: %v", name, err)
	}
	into[name] = preset
	return nil
}

func yamlError(err error) error {
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return lineError(syntax.GetToken().Position.Line, "%s", syntax.GetMessage())
	}
	return lineError(1, "%v", err)
}

func lineError(line int, format string, args ...any) error {
	return parley.Errorf(parley.BadInput, "line %d: %s", line, fmt.Sprintf(format, args...)).
		Suggest("see docs/runtimes/command.md")
}
