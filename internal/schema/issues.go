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

// maxIssues is how many issues of a document or payload are listed. The others are only counted.
const maxIssues = 64

// listsAllIssues has the dialects for which every issue is listed. Their format requires that, and limits the size of a document.
var listsAllIssues = map[string]bool{"routing": true}

var english = message.NewPrinter(language.English)

// issue is a problem at one place.
type issue struct{ place, sentence string }

// check validates a value and returns the issues. It puts prefix before their places.
func check(s *jsonschema.Schema, value any, prefix string) (found []issue) {
	failure, ok := errors.AsType[*jsonschema.ValidationError](s.Validate(value))
	if !ok {
		return nil
	}
	return collect(failure, prefix)
}

// collect returns the issues of the innermost causes.
func collect(e *jsonschema.ValidationError, prefix string) (found []issue) {
	if len(e.Causes) == 0 {
		return describe(e, prefix)
	}
	for _, cause := range e.Causes {
		found = append(found, collect(cause, prefix)...)
	}
	return found
}

// firstSentences returns the first issues as sentences, and a count of the others.
func firstSentences(found []issue) []string {
	list := sentences(found)
	if more := len(list) - maxIssues; more > 0 {
		list = append(list[:maxIssues], fmt.Sprintf("and %d more", more))
	}
	return list
}

// sentences returns issues as sentences in a fixed order.
func sentences(found []issue) (list []string) {
	slices.SortFunc(found, func(a, b issue) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.sentence, b.sentence))
	})
	for _, i := range slices.Compact(found) {
		list = append(list, i.sentence)
	}
	return list
}

// describe returns the issues of an error, in the words of the Routing Protocol if it has words for them.
func describe(e *jsonschema.ValidationError, prefix string) []issue {
	place := prefix + strings.Join(e.InstanceLocation, ".")
	at := cmp.Or(strings.TrimSuffix(place, "."), "document")
	newIssue := func(format string, args ...any) []issue { return []issue{{place, fmt.Sprintf(format, args...)}} }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return missing(place, k.Missing)
	case *kind.Enum:
		return newIssue("Invalid %s: expected %s, got %s", at, alternatives(k.Want), quoteValue(k.Got))
	case *kind.Type:
		return newIssue("%s: expected %s, got %s", at, strings.Join(k.Want, " or "), k.Got)
	case *kind.Pattern:
		return newIssue("%s: %s does not match %s", at, quoteValue(k.Got), k.Want)
	case *kind.Format:
		return newIssue("%s: %s is not a valid %s", at, quoteValue(k.Got), k.Want)
	case *kind.Minimum:
		return newIssue("%s: minimum is %s, got %s", at, k.Want.RatString(), decimal(k.Got))
	case *kind.Maximum:
		return newIssue("%s: maximum is %s, got %s", at, k.Want.RatString(), decimal(k.Got))
	case *kind.MinLength:
		return newIssue("%s: is empty", at)
	case *kind.MaxLength:
		return newIssue("%s: has %d characters, at most %d are allowed", at, k.Got, k.Want)
	default:
		return newIssue("%s: %s", at, k.LocalizedString(english))
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

// alternatives lists the allowed words. It leaves out null.
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

// quoteValue returns a value of the document as part of a sentence, shortened and without control characters.
func quoteValue(value any) string {
	const maxRunes = 80
	text, quoted := value.(string)
	if !quoted {
		text = fmt.Sprint(value)
	}
	runes := []rune(strings.Map(maskControl, text))
	if len(runes) > maxRunes {
		runes = append(runes[:maxRunes:maxRunes], '…')
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
