package parley

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPriorityByNameAndNumber(t *testing.T) {
	for _, c := range []struct {
		in    string
		level int
		word  string
		class string
		due   time.Duration
	}{
		{"0", 0, "", "low", 24 * time.Hour},
		{"1", 1, "", "low", 24 * time.Hour},
		{"2", 2, "", "low", 24 * time.Hour},
		{"3", 3, "", "low", 24 * time.Hour},
		{"4", 4, "", "normal", 30 * time.Minute},
		{"5", 5, "", "normal", 30 * time.Minute},
		{"6", 6, "", "normal", 30 * time.Minute},
		{"7", 7, "", "high", 5 * time.Minute},
		{"8", 8, "", "high", 5 * time.Minute},
		{"9", 9, "", "high", 5 * time.Minute},
		{"10", 10, "", "urgent", 5 * time.Second},
		{"low", 2, "low", "low", 24 * time.Hour},
		{"normal", 5, "normal", "normal", 30 * time.Minute},
		{"high", 8, "high", "high", 5 * time.Minute},
		{"urgent", 10, "urgent", "urgent", 5 * time.Second},
		{"critical", 10, "critical", "urgent", 5 * time.Second},
	} {
		p, err := ParsePriority(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if p.Level() != c.level || p.Word() != c.word || p.Class() != c.class || p.Due() != c.due || !p.Given() {
			t.Errorf("%s: level %d, word %q, class %s, due %s", c.in, p.Level(), p.Word(), p.Class(), p.Due())
		}
		if p.String() != c.in {
			t.Errorf("%s comes back as %s", c.in, p)
		}
	}
}

func TestPriorityOutsideItsRangeIsRefused(t *testing.T) {
	for _, in := range []string{"-1", "11", "", " ", "hi", "5.0", "1e1", " 5", "medium", "99999999999999999999", "highest"} {
		_, err := ParsePriority(in)
		refused(t, err, strings.TrimSpace(in))
	}
	for _, level := range []int{-1, 11, 127, 128, 255, 256, 261, -251, 1 << 40} { // some wrap around in a byte
		_, err := PriorityOf(level)
		refused(t, err, strconv.Itoa(level))
	}
}

func TestPriorityNotGivenCountsAsFive(t *testing.T) {
	var none Priority
	if none.Given() || none.Level() != 5 || none.Class() != "normal" || none.String() != "5" {
		t.Errorf("the zero priority is %s, given %t", none, none.Given())
	}
	if !DefaultPriority.Given() || DefaultPriority.Level() != 5 || DefaultPriority.Word() != "" {
		t.Errorf("the default is %+v", DefaultPriority)
	}
	zero, err := PriorityOf(0)
	if err != nil || zero == none || zero.Level() != 0 {
		t.Errorf("level 0 is taken for none: %v, %v", zero, err)
	}
}

func TestPriorityInJSON(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`0`, `0`},
		{`5`, `5`},
		{`10`, `10`},
		{`"urgent"`, `"urgent"`},
		{`"critical"`, `"critical"`},
		{`"low"`, `"low"`},
		{`"h\u0069gh"`, `"high"`},
	} {
		var p Priority
		if err := json.Unmarshal([]byte(c.in), &p); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if out, err := json.Marshal(p); err != nil || string(out) != c.out {
			t.Errorf("%s comes back as %s, %v", c.in, out, err)
		}
	}
	for _, in := range []string{`"5"`, `"+5"`, `5.5`, `11`, `-1`, `true`, `{}`, `[]`, `""`, `"null"`, `1e1`} {
		var p Priority
		refused(t, json.Unmarshal([]byte(in), &p))
	}
}

func TestPriorityOfNullIsNotGiven(t *testing.T) {
	var d Draft
	if err := json.Unmarshal([]byte(`{"priority":null,"deadline":null}`), &d); err != nil || d.Priority.Given() {
		t.Errorf("got %v, %v", d.Priority, err)
	}
}

// anyPriority draws from all priorities that can be made.
func anyPriority() *rapid.Generator[Priority] {
	return rapid.Custom(func(t *rapid.T) Priority {
		words := []string{"low", "normal", "high", "urgent", "critical"}
		word := rapid.OneOf(rapid.SampledFrom(words), rapid.Map(rapid.IntRange(0, 10), strconv.Itoa)).Draw(t, "priority")
		p, err := ParsePriority(word)
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
}

func TestPriorityKeepsTheSendersWordThroughJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPriority().Draw(t, "p")
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Priority
		if err := json.Unmarshal(raw, &back); err != nil || back != p {
			t.Fatalf("%+v became %s, then %+v, %v", p, raw, back, err)
		}
	})
}

func FuzzPriority(f *testing.F) {
	for _, seed := range []string{"5", "10", "11", "-0", "+7", "007", "high", "HIGH", "Critical", "", "nıl", "0x5", "1_0", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePriority(s)
		if err != nil {
			refused(t, err)
			if p != (Priority{}) {
				t.Errorf("%q is refused, but gives %v", s, p)
			}
			return
		}
		if !p.Given() || p.Level() < 0 || p.Level() > 10 {
			t.Errorf("%q gives level %d", s, p.Level())
		}
		if p.Word() != "" && !strings.EqualFold(p.Word(), s) {
			t.Errorf("%q comes back as another word, %q", s, p.Word())
		}
		if n, err := strconv.Atoi(s); err == nil && n != p.Level() {
			t.Errorf("%q gives level %d", s, p.Level())
		}
		if again, err := ParsePriority(p.String()); err != nil || again != p {
			t.Errorf("%q gives %q, which gives %+v, %v", s, p, again, err)
		}
	})
}
