package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// mostIssues are listed of one document or payload; how many more there are is counted.
const mostIssues = 64

// unlimited are the dialects of whose documents every issue is listed: the format prescribes it, and bounds the size of a document.
var unlimited = map[string]bool{"routing": true}

var english = message.NewPrinter(language.English)

// issue is what is wrong at one place.
type issue struct{ place, sentence string }

// check returns what is wrong with a value. Places begin with a prefix.
func check(s *jsonschema.Schema, value any, prefix string) (found []issue) {
	failure, ok := errors.AsType[*jsonschema.ValidationError](s.Validate(value))
	if !ok {
		return nil
	}
	return collect(failure, prefix)
}

// collect takes the causes that have no further ones.
func collect(e *jsonschema.ValidationError, prefix string) (found []issue) {
	if len(e.Causes) == 0 {
		return describe(e, prefix)
	}
	for _, cause := range e.Causes {
		found = append(found, collect(cause, prefix)...)
	}
	return found
}

// firstSentences are the sentences of the first issues, and how many more there are.
func firstSentences(found []issue) []string {
	list := sentences(found)
	if more := len(list) - mostIssues; more > 0 {
		list = append(list[:mostIssues], fmt.Sprintf("and %d more", more))
	}
	return list
}

// sentences are issues in an order that is always the same.
func sentences(found []issue) (list []string) {
	slices.SortFunc(found, func(a, b issue) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.sentence, b.sentence))
	})
	for _, i := range slices.Compact(found) {
		list = append(list, i.sentence)
	}
	return list
}

// describe says what is wrong, in S3's words where it has some.
func describe(e *jsonschema.ValidationError, prefix string) []issue {
	place := prefix + strings.Join(e.InstanceLocation, ".")
	at := cmp.Or(strings.TrimSuffix(place, "."), "document")
	one := func(format string, args ...any) []issue { return []issue{{place, fmt.Sprintf(format, args...)}} }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return missing(place, k.Missing)
	case *kind.Enum:
		return one("Invalid %s: expected %s, got %s", at, alternatives(k.Want), quoteValue(k.Got))
	case *kind.Type:
		return one("%s: expected %s, got %s", at, strings.Join(k.Want, " or "), k.Got)
	case *kind.Pattern:
		return one("%s: %s does not match %s", at, quoteValue(k.Got), k.Want)
	case *kind.Format:
		return one("%s: %s is not a valid %s", at, quoteValue(k.Got), k.Want)
	case *kind.Minimum:
		return one("%s: minimum is %s, got %s", at, k.Want.RatString(), decimal(k.Got))
	case *kind.Maximum:
		return one("%s: maximum is %s, got %s", at, k.Want.RatString(), decimal(k.Got))
	case *kind.MinLength:
		return one("%s: is empty", at)
	case *kind.MaxLength:
		return one("%s: has %d characters, at most %d are allowed", at, k.Got, k.Want)
	default:
		return one("%s: %s", at, k.LocalizedString(english))
	}
}

func missing(place string, names []string) (found []issue) {
	if place != "" && !strings.HasSuffix(place, ".") {
		place += "."
	}
	for _, name := range names {
		found = append(found, issue{place + name, "Missing required field: " + place + name})
	}
	return found
}

// alternatives lists words that are allowed. That a field may also be null goes without saying.
func alternatives(want []any) string {
	var words []string
	for _, word := range want {
		if word != nil {
			words = append(words, quoteValue(word))
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// quoteValue is a foreign value inside a sentence.
func quoteValue(value any) string {
	const most = 80
	text, quoted := value.(string)
	if !quoted {
		text = fmt.Sprint(value)
	}
	runes := []rune(strings.Map(maskControl, text))
	if len(runes) > most {
		runes = append(runes[:most:most], '…')
	}
	if quoted {
		return "'" + string(runes) + "'"
	}
	return string(runes)
}

func maskControl(r rune) rune {
	if unicode.IsControl(r) {
		return '\uFFFD'
	}
	return r
}
