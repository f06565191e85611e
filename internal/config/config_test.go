package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func value(t *testing.T, c *Config, key string) Value {
	t.Helper()
	at := slices.IndexFunc(c.Values(), func(v Value) bool { return v.Key == key })
	if at < 0 {
		t.Fatalf("%s has no value", key)
	}
	return c.Values()[at]
}

func TestDefaultsAreTheHubsOwn(t *testing.T) {
	c, err := Load(filepath.Join(t.TempDir(), "absent.yaml"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits != parley.DefaultLimits() {
		t.Errorf("limits are %+v", c.Limits)
	}
	if c.Addr != "127.0.0.1:7717" || c.Store != SQLite || c.Rate != (Rate{50, 200}) || c.Retention.Events != 7*day {
		t.Errorf("defaults are %+v", c)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	runs := Runs{64, 30 * time.Minute, 10 * time.Second, 8 << 20, []string{home}, nil}
	if !reflect.DeepEqual(c.Runs, runs) || c.Loops != (Loops{8, 10 * time.Minute, 32}) || c.Ask != (Ask{2 * time.Minute, 16, 3}) {
		t.Errorf("defaults of runs are %+v, of loops %+v, of asks %+v", c.Runs, c.Loops, c.Ask)
	}
	for _, v := range c.Values() {
		if v.Source != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Source)
		}
	}
}

func TestLaterSourcesWin(t *testing.T) {
	path := write(t, "addr: 127.0.0.1:1\nrate:\n  burst: 1\n  per_second: 2.5\nretention.messages:\n  age: 30d\n")
	environ := []string{"PARLEY_ADDR=127.0.0.1:2", "PARLEY_RATE_BURST=2", "PARLEY_STORE=", "HOME=/"}
	c, err := Load(path, environ, map[string]string{"addr": "127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Value{
		{"addr", "127.0.0.1:3", "--addr"},
		{"rate.burst", "2", "PARLEY_RATE_BURST"},
		{"rate.per_second", "2.5", path + ":4"},
		{"retention.messages.age", "30d", path + ":6"},
		{"store", "sqlite", "default"},
	} {
		if got := value(t, c, want.Key); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if c.Addr != "127.0.0.1:3" || c.Rate != (Rate{2.5, 2}) || c.Retention.Messages.Age != 30*day {
		t.Errorf("it is %+v", c)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an unknown key", "adr: x", `:1: unknown setting "adr" (did you mean addr?)`},
		{"an unknown key inside", "rate:\n  bursts: 5", `:2: unknown setting "rate.bursts" (did you mean rate.burst?)`},
		{"nothing like it", "zzzzzzzz: 1", `see docs/configuration.md`},
		{"a key twice", "addr: 127.0.0.1:1\naddr: 127.0.0.1:2", ":2:"},
		{"a key twice in two forms", "rate.burst: 1\nrate: {burst: 2}", ":2: rate.burst is set twice"},
		{"a map for a value", "addr:\n  host: x", ":2: addr must be one value (host:port)"},
		{"a list for a value", "addr: [a, b]", ":1: addr must be one value"},
		{"a value for a map", "rate: 5", ":1: rate must have settings"},
		{"no value", "addr:", ":1: addr must be one value"},
		{"a wrong type", "rate:\n  burst: many", `rate.burst (` + "%s" + `:2) is not valid: "many" is not a number from 1 to 1000000`},
		{"an alias", "addr: &a 127.0.0.1:1\nstore: *a", ":1: addr must be one value"},
		{"broken syntax", "addr: [", ":1:"},
		{"no settings", "- addr", ":1: the file must have settings"},
		{"a number for a key", "1: 2", ":1:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.text)
			_, err := Load(path, nil, nil)
			if parley.CodeOf(err) != parley.BadInput {
				t.Fatalf("got %v", err)
			}
			if want := strings.ReplaceAll(test.want, "%s", path); !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want %q in it", err, want)
			}
		})
	}
}

func TestFilesThatSetNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "rate: {}\n"} {
		if _, err := Load(write(t, text), nil, nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestValues(t *testing.T) {
	for _, test := range []struct{ key, text, wrong string }{
		{"addr", "127.0.0.1:0", ""},
		{"addr", ":7717", ""},
		{"addr", "[::1]:80", ""},
		{"addr", "7717", "is not an address"},
		{"addr", "localhost:70000", "is not an address"},
		{"store", "postgres://u:secret@h/db", ""},
		{"store", "mysql://u:secret@h/db", "neither sqlite nor a URL"},
		{"owner_auth", "password", "is not one of socket, token"},
		{"hosts", "hub.example.org, other:8080,[::1]", ""},
		{"hosts", "http://x", "is not a host name"},
		{"public_url", "https://parley.example.org:8443", ""},
		{"public_url", "https://parley.example.org/path", "without a path"},
		{"public_url", "https://a:b@parley.example.org", "without a path"},
		{"public_url", "parley.example.org", "is not a URL"},
		{"public_url", "ftp://parley.example.org", "is not a URL"},
		{"hosts", "a/b", "is not a host name"},
		{"log.level", "loud", "is not one of"},
		{"limits.body", "1MiB", ""},
		{"limits.body", "0", "is not a size from"},
		{"limits.body", "1GiB", "is not a size from"},
		{"limits.depth", "0", "from 1 to 1000"},
		{"rate.per_second", "0", ""},
		{"rate.per_second", "NaN", "from 0 to"},
		{"rate.per_second", "-1", "from 0 to"},
		{"auto_archive", "30d", ""},
		{"auto_archive", "-3h", "is not a duration"},
		{"auto_archive", "0", "write off"},
		{"retention.messages.size", "10GB", ""},
		{"retention.messages.size", "0", "write off"},
		{"retention.events", "off", ""},
		{"retention.runs.age", "30d", ""},
		{"runs.total", "0", "from 1 to 10000"},
		{"runs.deadline", "2h", ""},
		{"runs.deadline", "0s", "is not a duration from 1s to"},
		{"runs.grace", "0s", ""},
		{"runs.output", "1kB", "is not a size from"},
		{"loops.exchanges", "off", "is not a number"},
		{"loops.quiet", "31d", "is not a duration from"},
		{"ask.wait", "500ms", "is not a duration from"},
		{"ask.slots", "0", "is not a number from 1 to 1000"},
		{"tiers", "pm-worker,pm-boss", "is not a pair"},
		{"tiers", "pm", "is not a pair"},
		{"approvals.remind", "1ms", "shorter than a second"},
		{"webhook.allow", "hooks.lan, 127.0.0.1,10.0.0.0/8,::1,fd00::/8,hooks.lan:8080", ""},
		{"webhook.allow", "http://x", "is neither a host name"},
		{"nats.url", "nats://user:secret@host:4222, tls://other", ""},
		{"nats.url", "http://secret@host", "it is not a URL like nats://host:4222"},
		{"nats.url", "nats://host,", "it is not a URL like nats://host:4222"},
		{"nats.url", "nats://", "it is not a URL like nats://host:4222"},
		{"nats.hub", "Lab-1_a", ""},
		{"nats.hub", "a.b", "is not a name of letters"},
		{"nats.hub", ">", "is not a name of letters"},
		{"nats.hub", "", "is not a name of letters"},
		{"webhook.allow", "10.0.0.0/99", "is neither a host name"},
	} {
		t.Run(test.key+"="+test.text, func(t *testing.T) {
			_, err := Load("", nil, map[string]string{test.key: test.text})
			if test.wrong == "" && err != nil || test.wrong != "" && err == nil {
				t.Fatalf("got %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %q, want %q in it", err, test.wrong)
			}
		})
	}
}

// TestNoSettingRepeatsTheWordsOfAParser gives every key a value that it cannot read, in a variable and in the file.
func TestNoSettingRepeatsTheWordsOfAParser(t *testing.T) {
	refused := 0
	for _, key := range allKeys {
		for _, value := range []string{"1x%zz", "://"} {
			variable := "PARLEY_" + strings.ToUpper(strings.ReplaceAll(key.Name, ".", "_")) + "=" + value
			_, inVariable := Load("", []string{variable}, nil)
			_, inFile := Load(write(t, key.Name+": '"+value+"'\n"), nil, nil)
			for where, err := range map[string]error{"variable": inVariable, "file": inFile} {
				if err == nil {
					continue
				}
				refused++
				for _, leak := range []string{"strconv", "parse ", "parsing", "invalid syntax", "time:", "unmarshal", "invalid URL"} {
					if strings.Contains(err.Error(), leak) {
						t.Errorf("%s in a %s says: %v", key.Name, where, err)
					}
				}
			}
		}
	}
	if refused < len(allKeys) {
		t.Errorf("only %d values were refused", refused)
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	for _, store := range []string{"postgres://u:canary@h/db", "postgres://h/db?user=u&password=canary"} {
		c, err := Load("", nil, map[string]string{"store": store})
		if err != nil {
			t.Fatal(err)
		}
		if shown := value(t, c, "store").Value; strings.Contains(shown, "canary") || c.Store != store {
			t.Errorf("%q is shown as %q", c.Store, shown)
		}
	}
}

func TestSecretsOfNATSAreNotShown(t *testing.T) {
	for given, want := range map[string]string{
		"nats://host:4222":                          "nats://host:4222",
		"nats://me:canary@host":                     "nats://me:xxxxx@host",
		"nats://canary@host":                        "nats://xxxxx@host",
		"nats://me:canary@host, tls://canary@other": "nats://me:xxxxx@host,tls://xxxxx@other",
	} {
		c, err := Load("", nil, map[string]string{"nats.url": given})
		if err != nil {
			t.Fatal(err)
		}
		if shown := value(t, c, "nats.url").Value; shown != want || c.NATS.URL != given {
			t.Errorf("%q is shown as %q, want %q", c.NATS.URL, shown, want)
		}
	}
}

func TestMisspeltVariablesAreWarnedOf(t *testing.T) {
	c, err := Load("", []string{
		"PARLEY_OWNER_AUHT=1", "PARLEY_HOME=/x", "PARLEY_TOKEN=t", "PARLEY_URL=u", "PARLEY_RUN=r",
		"PARLEY_TEST_POSTGRES=p", "PARLEY_SOMETHING_ELSE=1", "PATH=/bin",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the variable PARLEY_OWNER_AUHT is not a setting: did you mean PARLEY_OWNER_AUTH?"}
	if got := c.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestNamesOfKeysAreUsableEverywhere(t *testing.T) {
	seen := map[string]bool{}
	for _, key := range Keys() {
		for _, name := range []string{key.Variable(), key.Flag()} {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	if !seen["PARLEY_RATE_PER_SECOND"] || !seen["rate-per-second"] {
		t.Error("rate.per_second has another name")
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 30 * day, "1d12h": 36 * time.Hour, "90s": 90 * time.Second, "0d": 0, "0s": 0,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "3", "1.5d", "-1d", "1d-1h", "12h1d", "1d2d", "200000000d", "106751d9000h"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "17": 17, "17B": 17, "256KiB": 256 << 10, "64 MiB": 64 << 20, "10GB": 10e9, "1TiB": 1 << 40, "5kB": 5000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "B", "-1", "1.5MiB", "1 KiB B", "9999999TiB", "1kib"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

func TestNoFileIsTooStrange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"addr", "rate", "burst", ":", " ", "\n", "  ", "- ", "[", "]", "{", "}", "&a", "*a", "!!", "|", "\"", "?", "<<", "---\n", "#", "1"}),
			rapid.String(),
		)).Draw(t, "pieces")
		if err := os.WriteFile(path, []byte(strings.Join(pieces, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil, nil); err != nil && parley.CodeOf(err) != parley.BadInput {
			t.Fatal(err)
		}
	})
}
