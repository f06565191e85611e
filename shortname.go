package parley

import (
	"regexp"
	"strconv"
	"strings"
)

// Noun is a kind of thing that has an id and a short name.
type Noun string

// The nouns with short names: m1234, approval-7, run-12, task-101.
const (
	NounMessage  Noun = "message"
	NounApproval Noun = "approval"
	NounRun      Noun = "run"
	NounTask     Noun = "task"
)

// ShortName is the name of a thing with a number, like approval-7. A message's number is its seq.
func (n Noun) ShortName(number int64) string { return n.prefix() + strconv.FormatInt(number, 10) }

func (n Noun) prefix() string {
	if n == NounMessage {
		return "m"
	}
	return string(n) + "-"
}

// ShortName is what people call the approval by, like approval-7. Its id stands where it has no number yet.
func (a Approval) ShortName() string { return shortName(NounApproval, a.Number, a.ID) }

// ShortName is what people call the run by, like run-12. Its id stands where it has no number yet.
func (r Run) ShortName() string { return shortName(NounRun, r.Number, r.ID) }

// ShortName is what people call the message by, like m1234: its place in the hub's order. Its id stands where it has
// no place yet.
func (m Message) ShortName() string { return shortName(NounMessage, m.Seq, m.ID) }

// ShortName is what people call the message of the delivery by, like m1234.
func (d Delivery) ShortName() string { return shortName(NounMessage, d.Seq, d.Message) }

// ShortName is what people call the message that was found by, like m1234.
func (h Hit) ShortName() string { return shortName(NounMessage, h.Seq, h.Message) }

// ShortName is what people call the question by, like m1234.
func (v AskView) ShortName() string { return shortName(NounMessage, v.Seq, v.Message) }

// ShortName is what people call the request by: the name of its task, or else of its message.
func (c Contacted) ShortName() string {
	if c.Task != "" {
		return c.Task
	}
	return shortName(NounMessage, c.Seq, c.Message)
}

func shortName(noun Noun, number int64, id string) string {
	if number == 0 {
		return id
	}
	return noun.ShortName(number)
}

var shortNameForm = regexp.MustCompile(`^(?:(task|approval|run)-|(m))([0-9]+)$`)

// ParseShortName says what a short name stands for, in any case. It reports false for a text in another form, and for a number
// that nothing can have.
func ParseShortName(text string) (noun Noun, number int64, ok bool) {
	if len(text) > MaxNameBytes {
		return "", 0, false
	}
	part := shortNameForm.FindStringSubmatch(strings.ToLower(text))
	if part == nil {
		return "", 0, false
	}
	if noun = NounMessage; part[2] == "" {
		noun = Noun(part[1])
	}
	number, ok = parseNumber(part[3])
	return noun, number, ok
}

func parseNumber(digits string) (int64, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number <= 0 {
		return 0, false
	}
	return number, true
}

// Ref is how somebody names a message, an approval or a run. An id stands alone; else it has a number, a piece of an id, or
// both: 123456 may be either.
type Ref struct {
	ID     string
	Number int64
	Piece  IDPiece
}

// ParseRef reads how a thing of a noun is named: by its id, its short name, its number alone, or a beginning or end of its id.
// It reports false for a text that names nothing of the kind.
func ParseRef(noun Noun, text string) (Ref, bool) {
	if IsUUID(text) {
		return Ref{ID: strings.ToLower(text)}, true
	}
	if len(text) > MaxNameBytes {
		return Ref{}, false
	}
	if other, number, ok := ParseShortName(text); ok {
		return Ref{Number: number}, other == noun
	}
	number, counted := parseNumber(text)
	piece, cut := ParseIDPiece(text)
	return Ref{Number: number, Piece: piece}, counted || cut
}

// IDPiece is a beginning or an end of an id: its hexadecimal digits in lower case, without dashes.
type IDPiece string

const (
	shortestPiece = 6  // digits by which somebody may name an id
	idDigits      = 32 // of a whole id
)

// ParseIDPiece reads a beginning or an end of an id: at least six of its digits, in any case, with its dashes or without.
func ParseIDPiece(text string) (IDPiece, bool) {
	digits := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if len(digits) < shortestPiece || len(digits) > idDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return IDPiece(digits), true
}

// Begins says whether an id begins with the piece, and Ends whether it ends with it.
func (p IDPiece) Begins(id string) bool { return strings.HasPrefix(undashed(id), string(p)) }

// Ends says whether an id ends with the piece.
func (p IDPiece) Ends(id string) bool { return strings.HasSuffix(undashed(id), string(p)) }

func undashed(id string) string { return strings.ReplaceAll(id, "-", "") }

// CheckNotShortName refuses a name of an agent or a conversation that has the form of a short name: task-101, approval-7, run-12
// and m1234 name tasks, approvals, runs and messages. Names that were given before this rule stay.
func CheckNotShortName(name string) error {
	if len(name) > MaxNameBytes {
		return nil // which no name is
	}
	folded := Fold(name)
	if !shortNameForm.MatchString(folded) {
		return nil
	}
	what := "tasks, approvals, runs and messages"
	return Errorf(BadInput, "the name %q has the form of a short name", clip(name)).
		Suggest("names like task-101, approval-7, run-12 and m1234 are for %s; choose another, like %s", what, otherName(folded))
}

// otherName is a name like a short one that is none.
func otherName(folded string) string {
	if rest, found := strings.CutPrefix(folded, "m"); found && rest != "" {
		return "member-" + rest
	}
	return folded + "-bot"
}
