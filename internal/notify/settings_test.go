package notify

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
)

func TestSettingsThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no list":           {"user: {command: [x]}", "line 1: notify: user must have a list of ways"},
		"no map":            {"\n- user", "line 2: notify: notify must have a list of ways for each person"},
		"no person":         {"\nUs er: []", "line 2: notify: \"Us er\" is not the id of a person"},
		"no way":            {"user:\n  - {}", "line 2: notify: user: a way is one of telegram, ntfy, webhook and command"},
		"two ways":          {"user:\n  - command: [x]\n    ntfy: {url: 'https://ntfy.sh/x'}", "a way is one of"},
		"an unknown way":    {"user:\n  - command: [x]\n  - pager: {}", "line 3: notify: unknown field"},
		"an unknown key":    {"user:\n  - ntfy: {url: 'https://ntfy.sh/x', token: canary}", "unknown field"},
		"a shell line":      {"user:\n  - command: notify-send x", "line 2: notify: "},
		"no program":        {"user:\n  - command: []", "command must begin with a program"},
		"a group":           {"user:\n  - telegram: {token_file: /x, chat: -5}", "in a group, every member could decide"},
		"another's chat":    {"user:\n  - telegram: {token_file: /x, chat: 5}\nrickon:\n  - telegram: {token_file: /y, chat: 5}", "line 4: notify: rickon: the chat belongs to user"},
		"no token":          {"user:\n  - telegram: {chat: 5}", "telegram.token_file or telegram.token_env must say"},
		"two tokens":        {"user:\n  - telegram: {chat: 5, token_file: /x, token_env: X}", "leave one out"},
		"a token in place":  {"user:\n  - telegram: {chat: 5, token_env: '123:canary'}", "the name of a variable, not the secret"},
		"a short path":      {"user:\n  - telegram: {chat: 5, token_file: x}", "must be a whole path"},
		"no topic":          {"user:\n  - ntfy: {url: 'https://ntfy.sh/'}", "must end with a topic"},
		"no URL":            {"user:\n  - webhook: {url: 'canary', secret_file: /x}", "webhook.url must be a URL"},
		"another scheme":    {"user:\n  - webhook: {url: 'file:///canary', secret_file: /x}", "webhook.url must be a URL"},
		"a password":        {"user:\n  - webhook: {url: 'https://a:canary@b', secret_file: /x}", "without a name or password"},
		"an unsigned call":  {"user:\n  - webhook: {url: 'https://canary'}", "webhook.secret_file or webhook.secret_env must say"},
		"what is no YAML":   {"user: [", "line 1: notify: "},
		"a chat that is no": {"user:\n  - telegram: {token_file: /x, chat: me}", "line 2: notify: "},
	} {
		_, err := Parse([]byte(c.text))
		if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, nothing := range []string{"", "# nothing\n", "user: []\n"} {
		if s, err := Parse([]byte(nothing)); err != nil || s.Has("user") {
			t.Errorf("%q: %v, %v", nothing, s, err)
		}
	}
}

func TestSecretsArePrivate(t *testing.T) {
	good := secretFile(t, "secret")
	open := secretFile(t, "canary")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MY_TOKEN", "from-the-environment")
	t.Setenv("HOME", filepath.Dir(good))
	for name, c := range map[string]struct {
		secret Secret
		want   string
	}{
		"a private file":      {Secret{File: good}, "secret"},
		"one in the home":     {Secret{File: "~/secret"}, "secret"},
		"a variable":          {Secret{Env: "MY_TOKEN"}, "from-the-environment"},
		"none":                {Secret{}, ""},
		"one others may read": {Secret{File: open}, "chmod 600"},
		"one that is absent":  {Secret{File: good + "x"}, "cannot read"},
		"a directory":         {Secret{File: t.TempDir()}, "not a regular file"},
		"two lines":           {Secret{File: secretFile(t, "canary\ncanary")}, "has no secret"},
		"an empty file":       {Secret{File: secretFile(t, "")}, "has no secret"},
		"an absent variable":  {Secret{Env: "MY_OTHER_TOKEN"}, "has no secret"},
	} {
		got, err := c.secret.read()
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) || strings.Contains(got, "canary") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	settings := Settings{"user": {{Ntfy: &Ntfy{URL: "https://ntfy.sh/x", TokenEnv: "MY_TOKEN"}}, {Command: []string{"x"}}}}
	if err := settings.CheckSecrets(); err != nil || strings.Join(settings.Variables(), " ") != "MY_TOKEN" {
		t.Errorf("%v, %v", err, settings.Variables())
	}
	settings["sansa"] = []Way{{Webhook: &Webhook{URL: "https://x", SecretFile: open}}}
	if err := settings.CheckSecrets(); err == nil {
		t.Error("a secret that others may read is fine")
	}
}

// TestDocumentedSettings reads what docs/notifiers.md tells people to write.
func TestDocumentedSettings(t *testing.T) {
	text, err := os.ReadFile("../../docs/notifiers.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", block[1], err)
		}
		settings, err := Parse(c.Notify)
		if err != nil {
			t.Errorf("%s: %v", block[1], err)
		}
		for _, w := range settings["user"] {
			kinds["telegram"], kinds["ntfy"] = kinds["telegram"] || w.Telegram != nil, kinds["ntfy"] || w.Ntfy != nil
			kinds["webhook"], kinds["command"] = kinds["webhook"] || w.Webhook != nil, kinds["command"] || w.Command != nil
		}
		for _, shown := range c.Values() {
			if shown.Key == "notify" && shown.Value != "user" {
				t.Errorf("config show prints %q", shown.Value)
			}
		}
	}
	for _, kind := range []string{"telegram", "ntfy", "webhook", "command"} {
		if !kinds[kind] {
			t.Errorf("%s is not documented", kind)
		}
	}
}
