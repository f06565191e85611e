package parley

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Quote is a part of a text that a participant other than the sender wrote.
type Quote struct {
	By    string `json:"by,omitempty" doc:"The participant who wrote the part; missing if it is not known, or if there are several."`
	Start int    `json:"start" doc:"Where it begins: a byte offset into the text, in UTF-8."`
	End   int    `json:"end" doc:"Where it ends: a byte offset into the text, in UTF-8."`
}

// Wording is a text of the hub, with marks for the parts that others wrote. The hub repeats results, reasons and notes of
// participants. Readers must be able to tell these words from the hub's own.
type Wording struct {
	Text   string
	Quotes []Quote // in order, without overlaps
}

// Own returns a wording that consists of the hub's own words.
func Own(text string) Wording { return Wording{Text: text} }

// Own adds the hub's own words.
func (w Wording) Own(text string) Wording {
	w.Text += text
	return w
}

// Quote adds words of a participant. Without an id, the author is unknown.
func (w Wording) Quote(by, text string) Wording {
	if text == "" {
		return w
	}
	start := len(w.Text)
	w.Text += text
	w.Quotes = append(slices.Clip(w.Quotes), Quote{By: by, Start: start, End: len(w.Text)})
	return w
}

// Name adds the display name of a participant. Readers cannot mistake a name of letters, digits and _-.# for other text. Name
// marks any other name as words of the participant.
func (w Wording) Name(by, name string) Wording {
	if plainName(name) {
		return w.Own(name)
	}
	return w.Quote(by, name)
}

func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.#", r)
	})
}

// Join adds another wording at the end.
func (w Wording) Join(other Wording) Wording {
	at := len(w.Text)
	w.Text += other.Text
	w.Quotes = slices.Clip(w.Quotes)
	for _, q := range other.Quotes {
		w.Quotes = append(w.Quotes, Quote{By: q.By, Start: q.Start + at, End: q.End + at})
	}
	return w
}

// Part is a piece of a wording: words of the hub, or quoted words.
type Part struct {
	Text   string
	Quoted bool
	By     string
}

// Parts returns the pieces of a wording, in order. Together they make up its text.
func (w Wording) Parts() (parts []Part) {
	at := 0
	for _, q := range w.Quotes {
		if q.Start > at {
			parts = append(parts, Part{Text: w.Text[at:q.Start]})
		}
		parts = append(parts, Part{Text: w.Text[q.Start:q.End], Quoted: true, By: q.By})
		at = q.End
	}
	if at < len(w.Text) {
		parts = append(parts, Part{Text: w.Text[at:]})
	}
	return parts
}

// OwnWords returns the text without the quoted parts.
func (w Wording) OwnWords() string {
	var own strings.Builder
	for _, p := range w.Parts() {
		if !p.Quoted {
			own.WriteString(p.Text)
		}
	}
	return own.String()
}

// Cut returns the beginning of a wording, at most limit bytes, without splitting a character.
func (w Wording) Cut(limit int) Wording {
	if len(w.Text) <= limit {
		return w
	}
	for limit > 0 && !utf8.RuneStart(w.Text[limit]) {
		limit--
	}
	cut := Wording{Text: w.Text[:limit]}
	for _, q := range w.Quotes {
		if q.End = min(q.End, limit); q.Start < q.End {
			cut.Quotes = append(cut.Quotes, q)
		}
	}
	return cut
}

// Map returns the wording with each piece replaced by what change returns for it.
func (w Wording) Map(change func(string) string) (mapped Wording) {
	for _, p := range w.Parts() {
		if p.Quoted {
			mapped = mapped.Quote(p.By, change(p.Text))
		} else {
			mapped = mapped.Own(change(p.Text))
		}
	}
	return mapped
}

// The words that the hub writes between the name and the words of a participant. A name contains no space, so the first
// occurrence in a sentence is the hub's.
const (
	FailedToRespond  = " failed to respond: "
	FailedToComplete = " failed to complete the task: "
)

// framePattern matches the beginning, written by the hub, of a sentence that ends with words of others. It also matches the name
// in the beginning.
var framePattern = regexp.MustCompile(`^(?:Response from (\S+): |Error: (\S+)(?:` + FailedToRespond + `|` + FailedToComplete + `| did not do this: ))`)

// Frame splits a sentence such as "Response from DataBot: …" into the beginning that the hub wrote and the words of
// others. ok is false for any other sentence.
func Frame(by, text string) (frame Wording, words string, ok bool) {
	at := framePattern.FindStringSubmatchIndex(text)
	if at == nil {
		return frame, "", false
	}
	from, to := max(at[2], at[4]), max(at[3], at[5])
	return Own(text[:from]).Name(by, text[from:to]).Own(text[to:at[1]]), text[at[1]:], true
}

// hubSentences returns an expression for whole sentences of the hub, in which only names and ids vary. Its first use compiles it, because
// that takes long, and each command of the program would wait for it.
var hubSentences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(`^(?:`+strings.Join([]string{
		`Delegated to NAME \(subtask NAME\)\. You'll receive the result automatically when NAME finishes\.`,
		`Delegated as NAME\.`,
		`Notification sent to NAME\.`,
		`Posted as message NAME in conversation NAME\.`,
		`NAME was updated: NAME\.`,
		`Error: NAME did not respond within [0-9.]+ seconds\. Consider using 'delegate' for async processing\. The answer will be delivered when it comes\.`,
	}, `|`)+`)$`, `NAME`, `[\pL\p{Nd}_.#-]+`))
})

// Framed returns the wording of a sentence in which the hub repeats words of the participant by, such as "Response from DataBot:
// …" or "Error: DataBot failed to respond: …". A fixed sentence of the hub counts as its own words. In any other sentence, only
// "Error: " counts as words of the hub.
func Framed(by, text string) Wording {
	if frame, words, ok := Frame(by, text); ok {
		if strings.HasPrefix(text, "Error: ") {
			by = "" // another participant may have written the reason, when it cancelled the work
		}
		return frame.Quote(by, words)
	}
	if hubSentences().MatchString(text) {
		return Own(text)
	}
	if rest, isError := strings.CutPrefix(text, "Error: "); isError {
		return Own("Error: ").Quote("", rest)
	}
	return Wording{}.Quote("", text)
}

// hubKey is the key of a message's metadata that only the hub sets.
const hubKey = "parley"

// hubMetadata is the value of hubKey in the metadata of messages of the hub.
type hubMetadata struct {
	Quotes []Quote `json:"quotes"`
	Subject
}

// Subject names what a message of the hub tells the end of.
type Subject struct {
	Task     string `json:"task,omitempty"`     // task-101
	Approval string `json:"approval,omitempty"` // approval-7
}

// About sets what a message of the hub tells the end of. Say keeps it.
func (m Message) About(s Subject) (Message, error) {
	if s == (Subject{}) {
		return m, nil
	}
	raw, err := json.Marshal(map[string]Subject{hubKey: s})
	m.Metadata = raw
	return m, err
}

// Subject returns what a message of the hub tells the end of. It is empty for all other messages.
func (m Message) Subject() Subject {
	var kept struct {
		Parley hubMetadata `json:"parley"`
	}
	if m.From != System || json.Unmarshal(m.Metadata, &kept) != nil {
		return Subject{}
	}
	return kept.Parley.Subject
}

// Say sets the text of a message of the hub to a wording, and stores the author of each part in the metadata. It returns an error
// if the metadata is not a JSON object.
func (m Message) Say(w Wording) (Message, error) {
	all := map[string]json.RawMessage{}
	if len(m.Metadata) > 0 {
		if err := json.Unmarshal(m.Metadata, &all); err != nil {
			return m, err
		}
	}
	var kept hubMetadata
	if before, ok := all[hubKey]; ok {
		if err := json.Unmarshal(before, &kept); err != nil {
			return m, err
		}
	}
	if kept.Quotes = w.Quotes; kept.Quotes == nil {
		kept.Quotes = []Quote{}
	}
	var err error
	if all[hubKey], err = json.Marshal(kept); err != nil {
		return m, err
	}
	m.Content.Text = w.Text
	m.Metadata, err = json.Marshal(all)
	return m, err
}

// Wording returns the text of a message, with marks for the parts that its sender repeats from others. Only messages of the hub
// have such parts. If the metadata of a message of the hub has no valid marks, the whole text counts as words of others.
func (m Message) Wording() Wording {
	text := m.Content.Text
	if m.From != System {
		return Own(text)
	}
	var kept struct {
		Parley *hubMetadata `json:"parley"`
	}
	if json.Unmarshal(m.Metadata, &kept) != nil || kept.Parley == nil || !validQuotes(kept.Parley.Quotes, text) {
		return Wording{}.Quote("", text)
	}
	return Wording{Text: text, Quotes: kept.Parley.Quotes}
}

// validQuotes reports whether quotes mark parts of a text that are in order, do not overlap and split no character.
func validQuotes(quotes []Quote, text string) bool {
	at := 0
	for _, q := range quotes {
		if q.Start < at || q.End <= q.Start || q.End > len(text) || splitsCharacter(text, q.Start) || splitsCharacter(text, q.End) {
			return false
		}
		at = q.End
	}
	return true
}

func splitsCharacter(text string, at int) bool { return at < len(text) && !utf8.RuneStart(text[at]) }

// CheckMetadata returns E003 for metadata with the key that only the hub sets. With this key, a participant could present its
// words as words of another participant.
func CheckMetadata(metadata json.RawMessage) error {
	if len(metadata) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &all); err != nil {
		return nil // another check refuses metadata that is not an object
	}
	for key := range all {
		if strings.EqualFold(key, hubKey) {
			return Errorf(BadInput, "metadata has the key %q, which only the hub sets", clip(key)).Suggest("use another key")
		}
	}
	return nil
}
