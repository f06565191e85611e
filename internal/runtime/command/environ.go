package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// alwaysPassed are the variables that every program gets. A name that ends with * stands for all that begin so.
var alwaysPassed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_*", "TMPDIR", "TZ", "XDG_*",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
}

// neverPassed are variables that no program gets, whoever asks for it: the hub's own secrets, and what would make a
// client believe that it runs within another.
var neverPassed = []string{"PARLEY_*", "DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "CLAUDECODE", "CODEX_THREAD_ID"}

func isNeverPassed(name string) bool { return matches(neverPassed, name) }

func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, prefix)
	})
}

// environment is what a run's process gets: of the hub's own variables only those that are allowed, what the
// preset sets, how to reach the hub, and ids that say what the run is about. No variable holds words of a sender. The second list is of the values among it that are secret.
func environment(own []string, p Preset, s settings, job parley.Job) (env, secrets []string) {
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
	trigger := newestTrigger(job.Triggers)
	env = append(env, "TERM=dumb", "NO_COLOR=1",
		"PARLEY_TOKEN="+job.Token, "PARLEY_RUN="+job.Run.ID, "PARLEY_URL="+job.URL,
		"PARLEY_CONVERSATION="+job.Run.Conversation, "PARLEY_TASK="+job.Run.Task, "PARLEY_MESSAGE="+trigger.ID, "PARLEY_FROM="+trigger.From,
		"TRACEPARENT="+parley.TraceParent(job.Run.TraceID, parley.RunSpan(job.Run.ID)))
	if job.Token != "" {
		secrets = append(secrets, job.Token)
	}
	return env, secrets
}

// Allowed is what a program gets of an environment that is no agent's: nothing of the hub's own, and no secret.
func Allowed(environ []string) (env []string) {
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); matches(alwaysPassed, name) && !isNeverPassed(name) {
			env = append(env, entry)
		}
	}
	return env
}

// withBin is an environment with a directory at the end of its PATH, so that it hides no program of another.
func withBin(environ []string, dir string) []string {
	dirs := filepath.SplitList(valueOf("PATH", environ))
	if dir == "" || slices.Contains(dirs, dir) {
		return environ
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	return append(environ, "PATH="+strings.Join(append(dirs, dir), string(filepath.ListSeparator)))
}

const shortestSecret = 8

// isSecret guesses from its name whether the value of a variable should not be seen in logs.
func isSecret(name, value string) bool {
	return len(value) >= shortestSecret && slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"},
		func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

// hideSecrets takes secrets out of a text.
func hideSecrets(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}
