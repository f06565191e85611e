package crashtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	damageCases = 50 // make soak runs ten times as many
	damageSeed  = 20260
	dbPage      = 4096
	missing     = "MISSING"
)

// TestDamageIsNeverServed damages homes in random ways with fixed seeds, and reads them by all read functions. The hub must not
// return damaged data without saying so, and must not panic. The deep check must report missing data. PARLEY_DAMAGE_CASES sets the
// number of cases, PARLEY_DAMAGE_TABLE the file for the table of outcomes.
func TestDamageIsNeverServed(t *testing.T) {
	cases := damageCases
	if given, err := strconv.Atoi(os.Getenv("PARLEY_DAMAGE_CASES")); err == nil {
		cases = given
	}
	homes := sampleHomes(t)
	var (
		table  strings.Builder
		totals = map[string]int{}
	)
	for i := range cases {
		random := rand.New(rand.NewPCG(damageSeed, uint64(i)))
		name := []string{"closed", "killed"}[i%2]
		s := homes[name]
		files := maps.Clone(s.files)
		damage := damageFiles(random, files)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		o := s.readAll(ctx, writeHome(t, files))
		cancel()
		class := s.classify(o)
		totals[class]++
		if class == missing {
			o.wrong = append(o.wrong, fmt.Sprintf("%d messages and %d artifacts are missing, and nothing says so", len(s.messages)-len(o.seen), len(s.artifacts)-o.bodies))
		}
		fmt.Fprintf(&table, "%3d  %-6s  %-60s  %s\n", i, name, damage, class)
		for _, wrong := range o.wrong {
			t.Errorf("case %d, %s home, %s: %s", i, name, damage, wrong)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(totals)) {
		fmt.Fprintf(&table, "%4d %s\n", totals[class], class)
	}
	t.Log("\n" + table.String())
	if path := os.Getenv("PARLEY_DAMAGE_TABLE"); path != "" {
		if err := os.WriteFile(path, []byte(table.String()), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// classify returns the class of an outcome. Data is MISSING if no read function and no deep check reported its loss.
func (s sampleHome) classify(o outcome) string {
	complete := len(o.seen) == len(s.messages) && o.bodies == len(s.artifacts)
	switch {
	case len(o.wrong) > 0:
		return "WRONG"
	case o.refused != nil:
		return "refused to start"
	case o.named > 0:
		return "named where it was read"
	case !complete && len(o.deep) > 0:
		return "missing, named by the deep check"
	case !complete:
		return missing
	case len(o.deep) > 0:
		return "unaffected, named by the deep check"
	default:
		return "unaffected"
	}
}

// damageFiles damages one file or two, and returns a description of the damage.
func damageFiles(random *rand.Rand, files map[string][]byte) string {
	names := slices.Sorted(maps.Keys(files))
	bodies := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, "artifacts") })
	target := "parley.db"
	switch n := random.IntN(10); {
	case n < 2:
		target = bodies[random.IntN(len(bodies))]
	case n < 4 && files["parley.db-wal"] != nil:
		target = "parley.db-wal"
	case n == 4:
		target = []string{"parley.mark", "parley.head"}[random.IntN(2)]
	}
	raw := bytes.Clone(files[target])
	short := target
	if len(short) > 20 {
		short = short[:20] + "…"
	}
	switch n := random.IntN(10); {
	case n < 5:
		return "flip in " + short + flip(random, files, target, raw)
	case n < 6:
		at := random.IntN(len(raw))
		files[target] = raw[:at]
		return fmt.Sprintf("truncate %s to %d of %d", short, at, len(raw))
	case n < 7:
		files[target] = nil
		if random.IntN(2) == 0 {
			files["parley.mark"] = nil
			return "delete " + short + " and parley.mark"
		}
		return "delete " + short
	default:
		return "swap in " + short + swap(random, files, bodies, target, raw)
	}
}

// flip changes some adjacent bytes.
func flip(random *rand.Rand, files map[string][]byte, target string, raw []byte) string {
	at, n := random.IntN(len(raw)), 1+random.IntN(16)
	for i := at; i < min(at+n, len(raw)); i++ {
		raw[i] ^= byte(1 + random.IntN(255))
	}
	files[target] = raw
	return fmt.Sprintf(": %d bytes at %d", n, at)
}

// swap exchanges two pages of a file, or the bodies of two artifacts.
func swap(random *rand.Rand, files map[string][]byte, bodies []string, target string, raw []byte) string {
	if slices.Contains(bodies, target) {
		other := bodies[random.IntN(len(bodies))]
		files[target], files[other] = files[other], files[target]
		return ": with another body"
	}
	pages := len(raw) / dbPage
	if pages < 3 {
		return flip(random, files, target, raw)
	}
	a, b := 1+random.IntN(pages-1), 1+random.IntN(pages-1)
	page := bytes.Clone(raw[a*dbPage : (a+1)*dbPage])
	copy(raw[a*dbPage:], raw[b*dbPage:(b+1)*dbPage])
	copy(raw[b*dbPage:], page)
	files[target] = raw
	return fmt.Sprintf(": pages %d and %d of %d", a+1, b+1, pages)
}
