package observe_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley/internal/observe"
)

// TestNoPartOfAPasswordIsLogged: that of a database's address, whatever is not escaped in it.
func TestNoPartOfAPasswordIsLogged(t *testing.T) {
	if got := observe.Redact("cannot connect to postgres://u:p@ss@host/db: refused"); got != "cannot connect to postgres://u:[hidden]@host/db: refused" {
		t.Errorf("logged as %s", got)
	}
	if got := observe.Redact("GET https://u:p@ss@host/a@b"); got != "GET https://u:[hidden]@host/a@b" {
		t.Errorf("logged as %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.StringOfN(rapid.SampledFrom([]rune("aZ09@:/?#[]%&=+;, .!$\"()*~_-|<>é")), 1, 24, -1).Draw(t, "password")
		secret := "Q7" + strings.Join(strings.Split(drawn, ""), "Q7") + "Q7"
		for _, line := range []string{
			"failed to connect to postgres://u:" + secret + "@host:5432/db", "store=postgresql://:" + secret + "@host/db reason=x", "nats://u:" + secret + "@host is away",
			"host=h password='" + secret + "' user=u",
		} {
			if logged := observe.Redact(line); strings.Contains(logged, "Q7") {
				t.Fatalf("%s is logged as %s", line, logged)
			}
		}
	})
}
