package schema

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// withoutZone is the layout that some programs use for a time in UTC.
const withoutZone = "2006-01-02T15:04:05.999999999"

// IsWritable reports whether a time can be written in UTC: its year has four digits.
func IsWritable(at time.Time) bool {
	year := at.UTC().Year()
	return 0 <= year && year <= 9999
}

// ParseTime parses a time with its offset. A time without an offset is UTC. A year outside of 0 to 9999 in UTC is an error.
func ParseTime(text string) (time.Time, error) {
	upper := strings.ToUpper(text)
	at, err := time.Parse(time.RFC3339Nano, upper)
	if err != nil {
		at, err = time.Parse(withoutZone, upper)
	}
	if err == nil && !IsWritable(at) {
		err = errors.New("in UTC it is beyond the years 0 to 9999")
	}
	return at, err
}

func checkTime(value any) error {
	text, ok := value.(string)
	if !ok {
		return nil // the schema reports the wrong type
	}
	_, err := ParseTime(text)
	return err
}

func checkTimeWithOffset(value any) error {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	if _, err := time.Parse(withoutZone, strings.ToUpper(text)); err == nil {
		return errors.New("it has no offset")
	}
	return checkTime(value)
}

// decimal formats a number.
func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
