package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/parley-hub/parley"
)

// span is a flag for a duration, also in days: 90s, 2h30m, 30d.
type span struct{ d *time.Duration }

func (s span) String() string {
	if s.d == nil || *s.d == 0 {
		return ""
	}
	return s.d.String()
}

func (s span) Set(text string) (err error) {
	if *s.d, err = parseSpan(text); err == nil && *s.d == 0 {
		return errors.New("write more than 0, or leave the flag out")
	}
	return err
}

func (s span) Type() string { return "duration" }

var errSpan = errors.New("write a duration such as 90s, 2h30m or 30d")

// parseSpan reads a duration, which may begin with days.
func parseSpan(text string) (time.Duration, error) {
	rest, whole := text, time.Duration(0)
	if days, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36500) || math.IsNaN(n) {
			return 0, errSpan
		}
		whole, rest = time.Duration(n*24*float64(time.Hour)), after
		if rest == "" {
			return whole, nil
		}
	}
	part, err := time.ParseDuration(rest)
	if err != nil || part < 0 {
		return 0, errSpan
	}
	return whole + part, nil
}

// nameList are names with commas between them.
func nameList(lists ...string) (names []string) {
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// number is a flag for a number from 1 on.
type number struct{ n *int }

func (n number) String() string {
	if n.n == nil {
		return "0"
	}
	return strconv.Itoa(*n.n)
}

func (n number) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		return errors.New("write a whole number of 1 or more, such as 20")
	}
	*n.n = value
	return nil
}

func (n number) Type() string { return "int" }

// most is a flag for a number that is not to be exceeded; 0 is no limit.
type most struct{ number }

func (m most) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 0 {
		return errors.New("write a whole number of 1 or more, or 0 for no limit")
	}
	*m.n = value
	return nil
}

// amount is a flag for a number that may have a fraction and is not below 0, like a sum of money.
type amount struct{ n *float64 }

func (a amount) String() string {
	if a.n == nil {
		return "0"
	}
	return strconv.FormatFloat(*a.n, 'g', -1, 64)
}

func (a amount) Set(text string) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0) || math.IsInf(value, 0) {
		return errors.New("write a number such as 2.50, or 0 for no limit")
	}
	*a.n = value
	return nil
}

func (a amount) Type() string { return "float64" }

// expectedValues says what to write for each type of flag that the library parses itself.
var expectedValues = map[string]string{
	"bool":  "write the flag alone, or with =true or =false",
	"int":   "write a whole number, such as 20",
	"int64": "write a whole number, such as 20",

	"stringSlice": "write words with commas between them, without quotation marks inside",
}

// plainFlagError says what to write instead of a refused value, where the library would repeat the words of Go's parser.
// Flags of our own say it themselves.
func plainFlagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	_, number := errors.AsType[*strconv.NumError](err)
	_, list := errors.AsType[*csv.ParseError](err)
	expected, known := expectedValues[bad.GetFlag().Value.Type()]
	if !number && !list || !known {
		return err
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: %s", bad.GetValue(), bad.GetFlag().Name, expected)
}

// parseWhen reads a time, or how long from now it is.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if d, err := parseSpan(text); err == nil {
		return now.Add(d), nil
	}
	for _, form := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write 2h, or 2006-01-02 15:04, or 2006-01-02T15:04:05Z", text)
}

// urgency is a flag for a priority: a number or a word.
type urgency struct{ p *parley.Priority }

func (u urgency) String() string {
	if u.p == nil || !u.p.Given() {
		return ""
	}
	return u.p.String()
}

func (u urgency) Set(text string) error {
	p, err := parley.ParsePriority(text)
	if err != nil {
		return errors.New("use 0 to 10, or low, normal, high, urgent")
	}
	*u.p = p
	return nil
}

func (u urgency) Type() string { return "priority" }

// maybe is a flag for something that may be left out.
type maybe[T any] struct {
	value **T
	parse func(string) (T, error)
}

func (m maybe[T]) String() string {
	if m.value == nil || *m.value == nil {
		return ""
	}
	return fmt.Sprint(**m.value)
}

// Set reads it.
func (m maybe[T]) Set(text string) error {
	value, err := m.parse(text)
	if err == nil {
		*m.value = &value
	}
	return err
}

// Type names it in help.
func (m maybe[T]) Type() string { return "number" }

// parseShare reads a part of a whole.
func parseShare(text string) (float64, error) {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, errors.New("write a number from 0 to 1")
	}
	return share, nil
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("write a whole number of 0 or more")
	}
	return n, nil
}
