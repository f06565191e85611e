package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// alwaysPassed are the variables that every program gets. A trailing * matches all names with that prefix.
var alwaysPassed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TMPDIR", "TZ", "XDG_*",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
}

// neverPassed are variables that no program gets, even if the configuration names them: the hub's secrets, and variables that
// would make a client believe that it runs inside another one.
var neverPassed = []string{"PARLEY_*", "DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "CLAUDECODE", "CODEX_THREAD_ID"}

func isNeverPassed(name string) bool { return matches(neverPassed, name) }

func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, prefix)
	})
}

// environment returns the environment of a run's process: the allowed variables of the hub, those that the preset sets, the
// address of the hub, and the ids of the run. No variable contains text of a sender. The second list has the secret values.
func environment(own []string, p Preset, s settings, request parley.RunRequest) (env, secrets []string) {
	for _, entry := range own {
		name, value, _ := strings.Cut(entry, "=")
		passed := slices.Contains(p.Pass, name) || slices.Contains(s.Env, name)
		_, set := p.Env[name]
		if set || isNeverPassed(name) || !passed && !matches(alwaysPassed, name) {
			continue
		}
		env = append(env, entry)
		if passed && isSecret(name, value) {
			secrets = append(secrets, value)
		}
	}
	for name, value := range p.Env {
		env = append(env, name+"="+value)
		if isSecret(name, value) {
			secrets = append(secrets, value)
		}
	}
	trigger := newestTrigger(request.Triggers)
	env = append(env, "TERM=dumb", "NO_COLOR=1",
		"PARLEY_TOKEN="+request.Token, "PARLEY_RUN="+request.Run.ID, "PARLEY_URL="+request.URL,
		"PARLEY_CONVERSATION="+request.Run.Conversation, "PARLEY_TASK="+request.Run.Task, "PARLEY_MESSAGE="+trigger.ID, "PARLEY_FROM="+trigger.From,
		"TRACEPARENT="+parley.TraceParent(request.Run.TraceID, parley.RunSpan(request.Run.ID)))
	if request.Token != "" {
		secrets = append(secrets, request.Token)
	}
	return env, secrets
}

// Allowed returns the part of an environment that a program outside of a run may have. It has no secrets of the hub.
func Allowed(environ []string) (env []string) {
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); matches(alwaysPassed, name) && !isNeverPassed(name) {
			env = append(env, entry)
		}
	}
	return env
}

// withBin appends a directory to the PATH of an environment. At the end of PATH, it hides no other program.
func withBin(environ []string, dir string) []string {
	dirs := filepath.SplitList(valueOf("PATH", environ))
	if dir == "" || slices.Contains(dirs, dir) {
		return environ
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	return append(environ, "PATH="+strings.Join(append(dirs, dir), string(filepath.ListSeparator)))
}

const minSecretLength = 8

// isSecret guesses from the name of a variable whether its value must not appear in logs.
func isSecret(name, value string) bool {
	return len(value) >= minSecretLength && slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"},
		func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

// hideSecrets replaces the secrets in a text.
func hideSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}
