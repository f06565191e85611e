package store

import (
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// CheckProgram returns an error if this program is older than the oldest program that may use the database.
func CheckProgram(oldest string) error {
	if !OlderThan(parley.Version, oldest) {
		return nil
	}
	return parley.Errorf(parley.Unavailable, "this database needs parley %s or newer, this is %s", oldest, parley.Version).
		Suggest("install parley %s", oldest)
}

// OlderThan reports whether version a is older than version b. Versions have the form 1.2.3.
func OlderThan(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if x, y := versionPart(as, i), versionPart(bs, i); x != y {
			return x < y
		}
	}
	return false
}

func versionPart(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i])
	return n
}
