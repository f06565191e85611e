package script

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// template is a text with placeholders like {{.From}}.
type template struct{ parts []part }

// part is a fixed text, or the name in a placeholder.
type part struct{ text, name string }

var placeholder = regexp.MustCompile(`\{\{\s*\.([A-Za-z0-9_.]+)\s*\}\}`)

// template parses a text. It returns an error if a placeholder has an unknown name.
func (p *stepParser) template(v value) (t template, err error) {
	text, err := v.text()
	if err != nil {
		return t, err
	}
	from := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		name := text[at[2]:at[3]]
		if !p.names[name] {
			return t, v.errorf("%s uses {{.%s}}, which has no value here", v.name, name).Suggest("use %s", p.knownNames())
		}
		t.parts = append(t.parts, part{text: text[from:at[0]]}, part{name: name})
		from = at[1]
	}
	t.parts = append(t.parts, part{text: text[from:]})
	for _, part := range t.parts {
		if strings.Contains(part.text, "{{") {
			return t, v.errorf("%s has {{ without a name", v.name).Suggest("use %s", p.knownNames())
		}
	}
	return t, nil
}

// knownNames lists the placeholders that a text may use.
func (p *stepParser) knownNames() string {
	names := slices.Sorted(maps.Keys(p.names))
	return "{{." + strings.Join(names, "}}, {{.") + "}}"
}

// maxText is the largest size of a filled template in bytes, which is the limit of a message.
const maxText = 256 << 10

// fill replaces the placeholders by the values of their names. It returns E003 if the text becomes too long.
func (t template) fill(values func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for _, part := range t.parts {
		text := part.text
		if part.name != "" {
			var err error
			if text, err = values(part.name); err != nil {
				return "", err
			}
		}
		if b.Len()+len(text) > maxText {
			return "", parley.Errorf(parley.BadInput, "the resulting text is longer than %d bytes", maxText).
				Because(parley.TooLarge).Suggest("use {{.Text}} less often")
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
