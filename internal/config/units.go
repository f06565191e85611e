package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// off is the value that switches a limit off.
const off = "off"

const day = 24 * time.Hour

// ParseDuration parses a duration like time.ParseDuration, but also with days: 30d, 1d12h, 90s.
func ParseDuration(text string) (time.Duration, error) {
	rest := text
	var days int64
	if count, more, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 0 || n > int64(math.MaxInt64/day) {
			return 0, fmt.Errorf("%q is not a duration like 30d or 12h", text)
		}
		days, rest = n, more
	}
	if rest == "" && rest != text {
		return time.Duration(days) * day, nil
	}
	part, err := time.ParseDuration(rest)
	fromDays := time.Duration(days) * day
	if err != nil || part < 0 || fromDays+part < fromDays {
		return 0, fmt.Errorf("%q is not a duration like 30d or 12h", text)
	}
	return fromDays + part, nil
}

// sizeUnits has longer units first, because B ends all of them.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
	{"", 1},
}

// ParseSize parses a number of bytes: 1048576, 256KiB, 10GB.
func ParseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		number, found := strings.CutSuffix(text, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
			break
		}
		return n * unit.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size like 256KiB or 10GB", text)
}
