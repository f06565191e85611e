package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

var (
	presetName   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	placeholders = []string{argResume, argModel, argSession, argPromptFile}
)

// check returns an error that says what is wrong with a preset, or nil.
func (p Preset) check(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if parsers[p.Output] == nil {
		return fmt.Errorf("output %q is not known: use text, claude, codex, gemini, opencode or goose", p.Output)
	}
	if !slices.Contains([]Input{"", InputPrompt, InputMessage, InputJSON}, p.Input) {
		return fmt.Errorf("input %q is not known: use prompt, message or json", p.Input)
	}
	if !slices.Contains([]RunToken{"", tokenSocket, tokenBearer}, p.RunToken) {
		return fmt.Errorf("run_token %q is not known: use socket or bearer", p.RunToken)
	}
	for _, check := range []func() error{p.checkArgv, p.checkVariables, p.checkCauses} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func checkName(name string) error {
	reserved := []string{
		parley.RuntimeLLM, parley.RuntimeWebhook, parley.RuntimeScript, parley.RuntimeAttached, parley.RuntimeBridge,
	}
	switch {
	case slices.Contains(reserved, name):
		return fmt.Errorf("%s is a built-in runtime, not a program", name)
	case !presetName.MatchString(name):
		return fmt.Errorf("the name %q is not valid: use up to 32 small letters, digits and hyphens", name)
	default:
		return nil
	}
}

// checkArgv returns an error if a list of arguments is wrong. Each argument is either constant, or one that the runtime
// replaces as a whole.
func (p Preset) checkArgv() error {
	if len(p.Argv) == 0 || p.Argv[0] == "" || slices.Contains(placeholders, p.Argv[0]) {
		return fmt.Errorf("argv must begin with a program")
	}
	for _, list := range []struct {
		name    string
		args    []string
		allowed []string
		needed  string // the argument that the list must have, unless it is empty
		inArgv  string // the argument that argv must have exactly if the list is not empty
	}{
		{"argv", p.Argv, []string{argResume, argModel, argPromptFile}, "", ""},
		{"resume", p.Resume, []string{argSession}, argSession, argResume},
		{"model", p.Model, []string{argModel}, argModel, argModel},
	} {
		if err := checkArguments(list.name, list.args, list.allowed); err != nil {
			return err
		}
		if list.needed != "" && len(list.args) > 0 && !slices.Contains(list.args, list.needed) {
			return fmt.Errorf("%s has no argument %s", list.name, list.needed)
		}
		if list.inArgv != "" && (len(list.args) > 0) != slices.Contains(p.Argv, list.inArgv) {
			return fmt.Errorf("%s and the argument %s of argv need each other", list.name, list.inArgv)
		}
	}
	return nil
}

func checkArguments(name string, args, allowed []string) error {
	for _, arg := range args {
		for _, special := range placeholders {
			switch {
			case strings.ContainsRune(arg, 0):
				return fmt.Errorf("an argument of %s contains a NUL character", name)
			case strings.Contains(arg, special) && arg != special:
				return fmt.Errorf("%s must be an argument of its own, not a part of %q", special, arg)
			case arg == special && !slices.Contains(allowed, special):
				return fmt.Errorf("%s has no meaning in %s", special, name)
			}
		}
	}
	return nil
}

func (p Preset) checkVariables() error {
	for name, value := range p.Env {
		if !variableName.MatchString(name) || strings.ContainsRune(value, 0) {
			return fmt.Errorf("env cannot set %q", name)
		}
		if isNeverPassed(name) {
			return fmt.Errorf("env cannot set %s, which the hub sets", name)
		}
	}
	return checkPassed("pass", p.Pass)
}

func checkPassed(key string, names []string) error {
	for _, name := range names {
		if !variableName.MatchString(name) {
			return fmt.Errorf("%s: %q is not the name of a variable", key, name)
		}
		if isNeverPassed(name) {
			return fmt.Errorf("%s: %s belongs to the hub, which never passes it on", key, name)
		}
	}
	return nil
}

func (p Preset) checkCauses() error {
	if _, err := regexp.Compile(p.Lost); err != nil {
		return fmt.Errorf("lost: %w", err)
	}
	causes := []Cause{}
	for _, known := range p.Says {
		if _, err := regexp.Compile(known.Match); err != nil || known.Match == "" {
			return fmt.Errorf("says: match %q is not a regular expression", known.Match)
		}
		causes = append(causes, known.Cause)
	}
	for _, cause := range p.Exits {
		causes = append(causes, cause)
	}
	for _, cause := range causes {
		if cause.Failure != "" && !cause.Failure.Known() {
			return fmt.Errorf("failure %q is not known: use final, busy, server, nostart or lost", cause.Failure)
		}
		if cause.Reason == "" {
			return fmt.Errorf("a cause has no reason")
		}
	}
	return nil
}
