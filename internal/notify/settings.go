package notify

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/parley-hub/parley"
)

// Settings maps the id of each person to the ways to notify that person.
type Settings map[string][]Way

// Way is one way to notify a person. Exactly one of its fields is set.
type Way struct {
	Telegram *Telegram `yaml:"telegram"`
	Ntfy     *Ntfy     `yaml:"ntfy"`
	Webhook  *Webhook  `yaml:"webhook"`
	Command  []string  `yaml:"command"` // a program and its arguments
}

// Telegram is a private chat with a bot.
type Telegram struct {
	TokenFile string `yaml:"token_file"`
	TokenEnv  string `yaml:"token_env"`
	Chat      int64  `yaml:"chat"`
	URL       string `yaml:"url"` // of the Bot API server; default: that of Telegram
}

// Ntfy is a topic of an ntfy server.
type Ntfy struct {
	URL         string `yaml:"url"`
	TokenFile   string `yaml:"token_file"`
	TokenEnv    string `yaml:"token_env"`
	WithoutLink bool   `yaml:"without_link"` // subscribers of the topic see the notice and cannot decide
}

// Webhook is a URL to which the hub sends signed requests.
type Webhook struct {
	URL         string `yaml:"url"`
	SecretFile  string `yaml:"secret_file"`
	SecretEnv   string `yaml:"secret_env"`
	WithoutLink bool   `yaml:"without_link"` // the receiver sees the notice and cannot decide
}

const telegramURL = "https://api.telegram.org"

// Has reports whether there is any way to notify a person.
func (s Settings) Has(person string) bool { return len(s[person]) > 0 }

// CheckSecrets returns what is wrong with the first secret that cannot be used, or nil.
func (s Settings) CheckSecrets() error {
	for _, person := range slices.Sorted(maps.Keys(s)) {
		for _, w := range s[person] {
			if secret := w.secret(); secret != (Secret{}) {
				if _, err := secret.read(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Variables returns the names of the environment variables that hold secrets.
func (s Settings) Variables() (names []string) {
	for _, ways := range s {
		for _, w := range ways {
			if name := w.secret().Env; name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// Parse reads the section notify of config.yaml: a list of ways for each person. It returns E003 with the line of the first
// mistake.
func Parse(text []byte) (Settings, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlError(err)
	}
	settings := Settings{}
	for _, doc := range file.Docs {
		if err := settings.read(doc.Body); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func (s Settings) read(node ast.Node) error {
	switch n := node.(type) {
	case nil, *ast.CommentGroupNode, *ast.NullNode:
		return nil
	case ast.MapNode:
		for all := n.MapRange(); all.Next(); {
			if err := s.readPerson(all.KeyValue()); err != nil {
				return err
			}
		}
		return nil
	default:
		return lineError(lineOf(node), "notify must have a list of ways for each person")
	}
}

func (s Settings) readPerson(entry *ast.MappingValueNode) error {
	person := entry.Key.GetToken().Value
	if err := parley.CheckKnownID(person); err != nil {
		return lineError(lineOf(entry.Key), "%q is not the id of a person", person)
	}
	list, ok := entry.Value.(*ast.SequenceNode)
	if !ok {
		return lineError(lineOf(entry.Key), "%s must have a list of ways", person)
	}
	for _, node := range list.Values {
		var w Way
		if err := yaml.NodeToValue(node, &w, yaml.Strict()); err != nil {
			return yamlError(err)
		}
		if err := w.check(); err != nil {
			return lineError(lineOf(node), "%s: %v", person, err)
		}
		if other := s.personInChat(w.Telegram); other != "" && other != person {
			return lineError(lineOf(node), "%s: the chat belongs to %s, and only one person can use a chat", person, other)
		}
		s[person] = append(s[person], w)
	}
	return nil
}

// personInChat returns the person whose settings already have the same Telegram chat, or "".
func (s Settings) personInChat(t *Telegram) string {
	for person, ways := range s {
		for _, w := range ways {
			if t != nil && w.Telegram != nil && w.Telegram.Chat == t.Chat {
				return person
			}
		}
	}
	return ""
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

func yamlError(err error) error {
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		return lineError(syntax.GetToken().Position.Line, "%s", syntax.GetMessage())
	}
	return lineError(1, "%v", err)
}

func lineError(line int, format string, args ...any) error {
	return parley.Errorf(parley.BadInput, "line %d: notify: %s", line, fmt.Sprintf(format, args...)).Suggest("see docs/notifiers.md")
}

// check returns what is wrong with a way, or nil. No error repeats a URL, because many URLs contain a secret.
func (w Way) check() error {
	set := 0
	for _, isSet := range []bool{w.Telegram != nil, w.Ntfy != nil, w.Webhook != nil, w.Command != nil} {
		if isSet {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("a way is one of telegram, ntfy, webhook and command")
	case w.Telegram != nil:
		return w.Telegram.check()
	case w.Ntfy != nil:
		return w.Ntfy.check()
	case w.Webhook != nil:
		return w.Webhook.check()
	case len(w.Command) == 0 || w.Command[0] == "":
		return errors.New("command must begin with a program")
	}
	return nil
}

func (t *Telegram) check() error {
	if t.URL == "" {
		t.URL = telegramURL
	}
	t.URL = strings.TrimSuffix(t.URL, "/")
	if t.Chat <= 0 {
		return errors.New("telegram.chat must be the number of a private chat: in a group, every member could decide")
	}
	return errors.Join(checkURL("telegram.url", t.URL), secretOf(t.TokenFile, t.TokenEnv).check("telegram.token", true))
}

// topicName matches the names of topics that ntfy allows.
var topicName = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

func (n *Ntfy) check() error {
	if err := checkURL("ntfy.url", n.URL); err != nil {
		return err
	}
	if _, topic := n.split(); !topicName.MatchString(topic) {
		return errors.New("ntfy.url must end with a topic, like https://ntfy.sh/my-topic")
	}
	return secretOf(n.TokenFile, n.TokenEnv).check("ntfy.token", false)
}

// split returns the server and the topic of the URL. Messages in JSON go to the root of the server.
func (n *Ntfy) split() (server, topic string) {
	at := strings.LastIndex(n.URL, "/")
	return n.URL[:at+1], n.URL[at+1:]
}

func (h *Webhook) check() error {
	return errors.Join(checkURL("webhook.url", h.URL), secretOf(h.SecretFile, h.SecretEnv).check("webhook.secret", true))
}

func checkURL(name, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%s must be a URL like https://example.org/path, without a name or password", name)
	}
	_, err = http.NewRequest(http.MethodPost, text, http.NoBody)
	if err != nil {
		return fmt.Errorf("%s cannot be called", name)
	}
	return nil
}

func (w Way) secret() Secret {
	switch {
	case w.Telegram != nil:
		return secretOf(w.Telegram.TokenFile, w.Telegram.TokenEnv)
	case w.Ntfy != nil:
		return secretOf(w.Ntfy.TokenFile, w.Ntfy.TokenEnv)
	case w.Webhook != nil:
		return secretOf(w.Webhook.SecretFile, w.Webhook.SecretEnv)
	default:
		return Secret{}
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s Secret) check(name string, needed bool) error {
	switch {
	case s == Secret{} && needed:
		return fmt.Errorf("%s_file or %s_env must say where the secret is", name, name)
	case s.File != "" && s.Env != "":
		return fmt.Errorf("%s_file and %s_env are both set: leave one out", name, name)
	case s.File != "" && !filepath.IsAbs(s.path()):
		return fmt.Errorf("%s_file must be a whole path, or begin with ~/", name)
	case s.Env != "" && !variableName.MatchString(s.Env):
		return fmt.Errorf("%s_env must be the name of a variable, not the secret", name)
	}
	return nil
}
