package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// manual is the OpenAPI document arranged for people.
type manual struct {
	Version      string
	Introduction []string // paragraphs
	Chapters     []chapter
	Types        []entry
}

type chapter struct {
	Name       string
	Operations []entry
}

// entry is an operation or a type.
type entry struct {
	Anchor, Method, Path, Summary string
	Text                          []string // paragraphs
	Params, Body                  []field
	BodyType, Answer              kind
	Curl                          string
}

type field struct {
	Name, In, Text string
	Kind           kind
	Required       bool
	Words          []any
}

// kind is the type of a value, with a link to its description.
type kind struct{ Before, Name, Anchor string }

func newManual(doc *huma.OpenAPI) manual {
	m := manual{Version: doc.Info.Version, Introduction: paragraphs(doc.Info.Description)}
	for _, tag := range doc.Tags {
		c := chapter{Name: tag.Name}
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				if op := operationOf(doc.Paths[path], method); op != nil && op.Tags[0] == tag.Name {
					c.Operations = append(c.Operations, newEntry(doc, op))
				}
			}
		}
		m.Chapters = append(m.Chapters, c)
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		m.Types = append(m.Types, entry{Anchor: "type-" + name, Summary: name, Body: fieldsOf(schemas[name])})
	}
	return m
}

func paragraphs(text string) (list []string) {
	for p := range strings.SplitSeq(text, "\n\n") {
		list = append(list, strings.ReplaceAll(p, "\n", " "))
	}
	return list
}

func newEntry(doc *huma.OpenAPI, op *huma.Operation) entry {
	e := entry{
		Anchor: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Text: paragraphs(op.Description), Curl: curl(op),
	}
	for _, p := range op.Parameters {
		e.Params = append(e.Params, field{
			Name: p.Name, In: p.In, Text: p.Description, Kind: kindOfSchema(p.Schema), Required: p.Required, Words: p.Schema.Enum,
		})
	}
	if op.RequestBody != nil {
		for _, content := range op.RequestBody.Content {
			e.BodyType = kindOfSchema(content.Schema)
			if content.Schema.Ref == "" {
				e.Body = fieldsOf(content.Schema)
			} else {
				e.Body = fieldsOf(doc.Components.Schemas.SchemaFromRef(content.Schema.Ref))
			}
		}
	}
	for mediaType, content := range op.Responses[strconv.Itoa(op.DefaultStatus)].Content {
		e.Answer = kindOfSchema(content.Schema)
		if mediaType != "application/json" {
			e.Answer = kind{Name: mediaType}
		}
	}
	return e
}

func fieldsOf(s *huma.Schema) (list []field) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		f := field{Name: name, Text: p.Description, Kind: kindOfSchema(p), Required: slices.Contains(s.Required, name), Words: p.Enum}
		if p.Items != nil {
			f.Words = p.Items.Enum
		}
		list = append(list, f)
	}
	return list
}

func kindOfSchema(s *huma.Schema) kind {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, schemaPrefix)
		return kind{Name: name, Anchor: "type-" + name}
	case len(s.OneOf) > 0:
		k := kindOfSchema(s.OneOf[0])
		if last := s.OneOf[len(s.OneOf)-1]; last.Type != "null" {
			k.Name += " or " + last.Type
		}
		return k
	case s.Type == huma.TypeArray:
		k := kindOfSchema(s.Items)
		k.Before += "list of "
		return k
	case s.Format == "date-time":
		return kind{Name: "time"}
	case s.Format == "binary":
		return kind{Name: "bytes"}
	case s.Type == "":
		return kind{Name: "any JSON"}
	default:
		return kind{Name: s.Type}
	}
}

// curl returns a command with which a person can try an operation.
func curl(op *huma.Operation) string {
	path := op.Path
	for _, p := range op.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", example(p))
		}
	}
	words := []string{"curl"}
	if op.Method != http.MethodGet {
		words = append(words, "-X "+op.Method)
	}
	if op.Security != nil {
		words = append(words, `-H "Authorization: Bearer $PARLEY_TOKEN"`)
	}
	if op.RequestBody != nil {
		if content := op.RequestBody.Content["application/json"]; content == nil {
			words = append(words, "--data-binary @file")
		} else {
			words = append(words, `-H "Content-Type: application/json"`, fmt.Sprintf("-d '%s'", content.Example))
		}
	}
	return strings.Join(append(words, "http://127.0.0.1:7717"+path), " \\\n  ")
}

func example(p *huma.Param) string {
	if len(p.Schema.Examples) > 0 {
		return fmt.Sprint(p.Schema.Examples[0])
	}
	return "$" + strings.ToUpper(p.Name)
}
