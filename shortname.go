package parley

import (
	"regexp"
	"strconv"
	"strings"
)

// Noun is a word that begins short names: the kind of the row that a short name refers to.
type Noun string

// The nouns with short names: m1234, approval-7, run-12, task-101, note-12.
const (
	NounMessage  Noun = "message"
	NounApproval Noun = "approval"
	NounRun      Noun = "run"
	NounTask     Noun = "task"
	NounNote     Noun = "note"
)

// ShortName returns the short name with a number, like approval-7. The number of a message is its seq.
func (n Noun) ShortName(number int64) string { return n.prefix() + strconv.FormatInt(number, 10) }

func (n Noun) prefix() string {
	if n == NounMessage {
		return "m"
	}
	return string(n) + "-"
}

// ShortName returns the short name of the approval, like approval-7, or its id if it has no number yet.
func (a Approval) ShortName() string { return shortName(NounApproval, a.Number, a.ID) }

// ShortName returns the short name of the run, like run-12, or its id if it has no number yet.
func (r Run) ShortName() string { return shortName(NounRun, r.Number, r.ID) }

// ShortName returns the short name of the message, like m1234, made of its seq, or its id if it has no seq yet.
func (m Message) ShortName() string { return shortName(NounMessage, m.Seq, m.ID) }

// ShortName returns the short name of the delivery's message, like m1234.
func (d Delivery) ShortName() string { return shortName(NounMessage, d.Seq, d.Message) }

// ShortName returns the short name of the message, like m1234.
func (h Hit) ShortName() string { return shortName(NounMessage, h.Seq, h.Message) }

// ShortName returns the short name of the question, like m1234.
func (v AskView) ShortName() string { return shortName(NounMessage, v.Seq, v.Message) }

// ShortName returns the short name of the delegated task or, if there is none, of the request.
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

var shortNameForm = regexp.MustCompile(`^(?:(task|approval|run|note)-|(m))([0-9]+)$`)

// ParseShortName returns the noun and number of a short name, in upper or lower case. ok is false for a text in another form, and
// for a number that is 0 or too large.
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

// Ref is a parsed reference to a message, an approval or a run. It has either an id, or a number or a piece of an id. It has both
// a number and a piece for a text like 123456, which may be either.
type Ref struct {
	ID     string
	Number int64
	Piece  IDPiece
}

// ParseRef parses a reference to a message, approval or run: an id, a short name, a number, or the beginning or end of an id. It
// returns false for any other text, and for a short name of another noun.
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
	number, isNumber := parseNumber(text)
	piece, isPiece := ParseIDPiece(text)
	return Ref{Number: number, Piece: piece}, isNumber || isPiece
}

// IDPiece is a beginning or an end of an id: its hexadecimal digits in lower case, without dashes.
type IDPiece string

const (
	minPieceDigits = 6  // the fewest digits that may stand for an id
	idDigits       = 32 // the digits of a whole id
)

// ParseIDPiece reads a beginning or an end of an id: at least six of its digits, in upper or lower case, with or without dashes.
// It returns false for any other text.
func ParseIDPiece(text string) (IDPiece, bool) {
	digits := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if len(digits) < minPieceDigits || len(digits) > idDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return IDPiece(digits), true
}

// Begins reports whether an id begins with the piece.
func (p IDPiece) Begins(id string) bool { return strings.HasPrefix(undashed(id), string(p)) }

// Ends reports whether an id ends with the piece.
func (p IDPiece) Ends(id string) bool { return strings.HasSuffix(undashed(id), string(p)) }

func undashed(id string) string { return strings.ReplaceAll(id, "-", "") }

// CheckNotShortName refuses a name of an agent or a conversation that has the form of a short name, like task-101, approval-7,
// run-12, m1234 or note-12. Names that are older than this rule stay valid.
func CheckNotShortName(name string) error {
	if len(name) > MaxNameBytes {
		return nil // no short name is that long
	}
	folded := Fold(name)
	if !shortNameForm.MatchString(folded) {
		return nil
	}
	what := "tasks, approvals, runs, messages and notes"
	return Errorf(BadInput, "the name %q has the form of a short name", clip(name)).
		Suggest("names like task-101, approval-7, run-12 and m1234 are for %s; choose another, like %s", what, otherName(folded))
}

// otherName returns a similar name that does not have the form of a short name.
func otherName(folded string) string {
	if rest, found := strings.CutPrefix(folded, "m"); found && rest != "" {
		return "member-" + rest
	}
	return folded + "-bot"
}
