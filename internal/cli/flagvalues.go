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

// durationFlag is a flag for a duration, which may have days: 90s, 2h30m, 30d.
type durationFlag struct{ d *time.Duration }

func (f durationFlag) String() string {
	if f.d == nil || *f.d == 0 {
		return ""
	}
	return f.d.String()
}

func (f durationFlag) Set(text string) (err error) {
	if *f.d, err = parseDuration(text); err == nil && *f.d == 0 {
		return errors.New("write more than 0, or leave the flag out")
	}
	return err
}

func (f durationFlag) Type() string { return "duration" }

var errDuration = errors.New("write a duration such as 90s, 2h30m or 30d")

// parseDuration parses a duration, which may begin with days.
func parseDuration(text string) (time.Duration, error) {
	rest, fromDays := text, time.Duration(0)
	if days, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36500) || math.IsNaN(n) {
			return 0, errDuration
		}
		fromDays, rest = time.Duration(n*24*float64(time.Hour)), after
		if rest == "" {
			return fromDays, nil
		}
	}
	part, err := time.ParseDuration(rest)
	if err != nil || part < 0 {
		return 0, errDuration
	}
	return fromDays + part, nil
}

// splitNames splits lists of names separated by commas.
func splitNames(lists ...string) (names []string) {
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// countFlag is a flag for a number of 1 or more.
type countFlag struct{ n *int }

func (f countFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.Itoa(*f.n)
}

func (f countFlag) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		return errors.New("write a whole number of 1 or more, such as 20")
	}
	*f.n = value
	return nil
}

func (f countFlag) Type() string { return "int" }

// limitFlag is a flag for a limit; 0 is no limit.
type limitFlag struct{ countFlag }

func (f limitFlag) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 0 {
		return errors.New("write a whole number of 1 or more, or 0 for no limit")
	}
	*f.n = value
	return nil
}

// amountFlag is a flag for a number of 0 or more that may have a fraction, such as an amount of money.
type amountFlag struct{ n *float64 }

func (f amountFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.FormatFloat(*f.n, 'g', -1, 64)
}

func (f amountFlag) Set(text string) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0) || math.IsInf(value, 0) {
		return errors.New("write a number such as 2.50, or 0 for no limit")
	}
	*f.n = value
	return nil
}

func (f amountFlag) Type() string { return "float64" }

// expectedValues says what to write for each type of flag that the library parses itself.
var expectedValues = map[string]string{
	"bool":  "write the flag alone, or with =true or =false",
	"int":   "write a whole number, such as 20",
	"int64": "write a whole number, such as 20",

	"stringSlice": "write words with commas between them, without quotation marks inside",
}

// plainFlagError replaces the words of Go's parser in an error of the library by what to write instead. Flags of this
// package already say it.
func plainFlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	_, number := errors.AsType[*strconv.NumError](err)
	_, list := errors.AsType[*csv.ParseError](err)
	expected, known := expectedValues[invalid.GetFlag().Value.Type()]
	if !number && !list || !known {
		return err
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: %s", invalid.GetValue(), invalid.GetFlag().Name, expected)
}

// parseTime parses a time, or how long from now it is.
func parseTime(text string, now time.Time) (time.Time, error) {
	if d, err := parseDuration(text); err == nil {
		return now.Add(d), nil
	}
	for _, form := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write 2h, or 2006-01-02 15:04, or 2006-01-02T15:04:05Z", text)
}

// priorityFlag is a flag for a priority: a number or a word.
type priorityFlag struct{ p *parley.Priority }

func (f priorityFlag) String() string {
	if f.p == nil || !f.p.Given() {
		return ""
	}
	return f.p.String()
}

func (f priorityFlag) Set(text string) error {
	p, err := parley.ParsePriority(text)
	if err != nil {
		return errors.New("use 0 to 10, or low, normal, high, urgent")
	}
	*f.p = p
	return nil
}

func (f priorityFlag) Type() string { return "priority" }

// optionalFlag is a flag for a value that may be missing.
type optionalFlag[T any] struct {
	value **T
	parse func(string) (T, error)
}

func (m optionalFlag[T]) String() string {
	if m.value == nil || *m.value == nil {
		return ""
	}
	return fmt.Sprint(**m.value)
}

// Set parses the value.
func (m optionalFlag[T]) Set(text string) error {
	value, err := m.parse(text)
	if err == nil {
		*m.value = &value
	}
	return err
}

// Type returns the placeholder that help shows.
func (m optionalFlag[T]) Type() string { return "number" }

// parseShare parses a number from 0 to 1.
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
