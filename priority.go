package parley

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Priority says how urgent a message is. It has a level from 0 to 10, and the word that the sender used for the level, if any.
// The zero value means that the sender gave no priority.
type Priority struct {
	level int8 // one more than the level, so that the zero value is distinct from level 0
	word  string
}

// DefaultPriority is the priority of a message whose sender gave none.
var DefaultPriority = Priority{level: 5 + 1}

var priorityWords = map[string]int8{"low": 2, "normal": 5, "high": 8, "urgent": 10, "critical": 10}

// PriorityOf returns the priority with a level. It returns E003 if the level is not from 0 to 10.
func PriorityOf(level int) (Priority, error) {
	if level < 0 || level > 10 {
		return Priority{}, Errorf(BadInput, "priority is %d", level).Suggest("use 0 to 10, or low, normal, high, urgent")
	}
	return Priority{level: int8(level + 1)}, nil
}

// ParsePriority reads a level or one of the words low, normal, high, urgent and critical. It returns E003 for any other text.
func ParsePriority(s string) (Priority, error) {
	if level, err := strconv.Atoi(s); err == nil {
		return PriorityOf(level)
	}
	word := strings.ToLower(s)
	level, ok := priorityWords[word]
	if !ok {
		return Priority{}, Errorf(BadInput, "unknown priority %q", clip(s)).
			Suggest("use 0 to 10, or low, normal, high, urgent")
	}
	return Priority{level: level + 1, word: word}, nil
}

// Given reports whether the sender set a priority.
func (p Priority) Given() bool { return p.level > 0 }

// Level returns the level from 0 to 10.
func (p Priority) Level() int {
	if !p.Given() {
		return DefaultPriority.Level()
	}
	return int(p.level) - 1
}

// Word returns the word that the sender used, or "".
func (p Priority) Word() string { return p.word }

// Class returns the level's name: low, normal, high or urgent.
func (p Priority) Class() string {
	switch level := p.Level(); {
	case level <= 3:
		return "low"
	case level <= 6:
		return "normal"
	case level <= 9:
		return "high"
	default:
		return "urgent"
	}
}

// Due returns the time within which the recipient should see a message of this priority.
func (p Priority) Due() time.Duration {
	switch p.Class() {
	case "low":
		return 24 * time.Hour
	case "normal":
		return 30 * time.Minute
	case "high":
		return 5 * time.Minute
	default:
		return 5 * time.Second
	}
}

// String returns the sender's word, or the level.
func (p Priority) String() string {
	if p.word != "" {
		return p.word
	}
	return strconv.Itoa(p.Level())
}

// MarshalJSON writes the sender's word, or the level as a number.
func (p Priority) MarshalJSON() ([]byte, error) {
	if p.word != "" {
		return json.Marshal(p.word)
	}
	return strconv.AppendInt(nil, int64(p.Level()), 10), nil
}

// UnmarshalJSON reads a word or a number. It returns E003 for anything else. null leaves the priority unchanged.
func (p *Priority) UnmarshalJSON(raw []byte) error {
	s := string(raw)
	if s == "null" {
		return nil
	}
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if _, err := strconv.Atoi(s); err == nil {
			return Errorf(BadInput, "priority %q is a number in quotes", clip(s)).Suggest("write the number without quotes")
		}
	}
	parsed, err := ParsePriority(s)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
