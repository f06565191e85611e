package config

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// passwords are drawn from what somebody may type without escaping it.
func passwords() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("aZ09@:/?#[]%&=+;, .!$'\"()*~_-\\|<>^`{}é")), 4, 24, -1)
}

// TestNoPartOfAPasswordIsShown: of a database's or bus's address, whatever is not escaped in it. The tail of one with an @ was shown.
func TestNoPartOfAPasswordIsShown(t *testing.T) {
	if got := hidePassword("postgres://u:p@ss@host/db"); got != "postgres://u:xxxxx@host/db" {
		t.Errorf("shown as %s", got)
	}
	if got := hideUsers("nats://u:pa@ss,wo:rd@host:4222"); got != "hidden" {
		t.Errorf("shown as %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		// With a mark on each side, every piece of it can be found.
		secret := "Q7" + strings.Join(strings.Split(passwords().Draw(t, "password"), ""), "Q7") + "Q7"
		written := secret
		if rapid.Bool().Draw(t, "escaped") {
			written = url.QueryEscape(secret)
		}
		for _, address := range []string{
			"postgres://u:" + written + "@host:5432/db", "postgresql://u:" + written + "@host/db?sslmode=disable", "postgres://u:12" + written + "@host/db",
			"postgres://u@host/db?password=" + written, "postgres://host/db?sslmode=disable&sslpassword=" + written + "&user=u", "postgres://u:x@host/db?PASSWORD=" + written,
		} {
			if _, err := storeAddress(address); err != nil && strings.Contains(err.Error(), "Q7") {
				t.Fatalf("%s is refused with %v", address, err)
			}
			if shown := hidePassword(address); strings.Contains(shown, "Q7") {
				t.Fatalf("%s is shown as %s", address, shown)
			}
		}
		for _, address := range []string{"nats://u:" + written + "@host:4222", "nats://u:12" + written + "@host"} {
			if _, err := natsAddress(address); err != nil && strings.Contains(err.Error(), "Q7") {
				t.Fatalf("%s is refused with %v", address, err)
			}
			if shown := hideUsers(address); strings.Contains(shown, "Q7") {
				t.Fatalf("%s is shown as %s", address, shown)
			}
		}
	})
}
