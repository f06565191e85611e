package parley

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func protocols(t testing.TB, texts ...string) (list []Protocol) {
	t.Helper()
	for _, text := range texts {
		p, err := ParseProtocol(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

func TestCommonIsTheHighestBothUnderstand(t *testing.T) {
	for _, c := range []struct{ a, b, want []string }{
		{[]string{"routing/1.0.0"}, []string{"routing/1.0.0"}, []string{"routing/1.0.0"}},
		{[]string{"routing/1.2.0"}, []string{"routing/1.0.0"}, []string{"routing/1.0.0"}},
		{[]string{"routing/1.2.0", "routing/2.1.0"}, []string{"routing/1.9.0", "routing/2.0.3"}, []string{"routing/2.0.3"}},
		{[]string{"routing/1.2.0"}, []string{"routing/2.0.0"}, nil},
		{[]string{"clawos/1.10"}, []string{"clawos/1.9"}, []string{"clawos/1.9"}},
		{[]string{"clawos/1.0"}, []string{"clawos/1.0.0"}, []string{"clawos/1.0"}},
		{[]string{"routing/1.0.0", "agentos/1.0"}, []string{"agentos/1.0", "clawos/1.0", "routing/1.0.0"}, []string{"agentos/1.0", "routing/1.0.0"}},
		{nil, []string{"agentos/1.0"}, nil},
	} {
		if got := Common(protocols(t, c.a...), protocols(t, c.b...)); !slices.Equal(got, protocols(t, c.want...)) {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestCommonDoesNotDependOnOrder(t *testing.T) {
	one := rapid.Custom(func(t *rapid.T) Protocol {
		return Protocol{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), rapid.StringMatching(`[12]\.[0-3]\.[0-3]`).Draw(t, "version")}
	})
	list := rapid.SliceOfN(one, 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		there, back := Common(a, b), Common(b, a)
		if !slices.Equal(there, back) {
			t.Fatalf("%v and %v: %v, and back %v", a, b, there, back)
		}
		if again := Common(there, b); !slices.Equal(again, there) {
			t.Fatalf("%v is not understood by %v: %v", there, b, again)
		}
	})
}

func TestInvalidProtocolsAreRefused(t *testing.T) {
	for _, text := range []string{"", "routing", "routing/", "/1.0", "routing/x", "routing/1..0", "routing/-1", "routing/+1"} {
		if p, err := ParseProtocol(text); CodeOf(err) != BadInput {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	for _, p := range Protocols() {
		if again, err := ParseProtocol(p.String()); err != nil || again != p {
			t.Errorf("%s: %v, %v", p, again, err)
		}
	}
}
