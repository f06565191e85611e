package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/parley-hub/parley"
)

// runPlan is everything that the runtime decides before it starts the program of a run.
type runPlan struct {
	request   parley.RunRequest
	options   Options
	preset    Preset
	settings  settings
	path      string // the path of the program
	dir       string // the working directory of the program
	env       []string
	secrets   []string   // values that must not appear in output
	input     string     // the content of stdin
	session   string     // the client's session to resume, or ""
	questions []question // questions to a person that end the run
	file      string     // the path of the file with the input, or ""
}

// sessionID matches the session ids that the runtime accepts. An id becomes an argument and the name of a file.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

func (r *Runtime) newPlan(request parley.RunRequest) (*runPlan, error) {
	plan := &runPlan{request: request, options: r.options}
	var err error
	if plan.preset, plan.path, plan.settings, err = r.find(request.Agent); err != nil {
		e := parley.AsError(err)
		return nil, failed(Cause{parley.FailureNoStart, e.Message, e.Suggestion}, "")
	}
	plan.env, plan.secrets = environment(withBin(r.options.Environ, r.options.Bin), plan.preset, plan.settings, request)
	plan.questions = questions(plan.preset)
	own := filepath.Join(request.Dir, "work")
	if plan.dir = plan.settings.Dir; plan.dir == "" {
		plan.dir = own
	}
	if err = os.MkdirAll(own, 0o700); err == nil {
		err = plan.chooseSession()
	}
	if err != nil {
		plan.cleanUp()
		return nil, startError(plan.preset.Argv[0], err)
	}
	return plan, nil
}

// chooseSession chooses the session to resume, and the prompt for it. If the session cannot be resumed, the run starts a new
// one.
func (plan *runPlan) chooseSession() error {
	plan.session = plan.request.Run.Session
	if plan.session == "" {
		return plan.setPrompt(plan.request.Prompt)
	}
	if !sessionID.MatchString(plan.session) || len(plan.preset.Resume) == 0 {
		plan.session = ""
		return plan.setPrompt(plan.request.Fresh())
	}
	return plan.setPrompt(plan.request.Prompt)
}

// setPrompt encodes a prompt as the input of the next attempt.
func (plan *runPlan) setPrompt(p parley.Prompt) (err error) {
	if plan.input, err = encodeInput(plan.preset.Input, plan.request, p); err != nil {
		return err
	}
	if !slices.Contains(plan.preset.Argv, argPromptFile) {
		return nil
	}
	return plan.writeInput()
}

// question matches output that asks a person something, and names the cause.
type question struct {
	*regexp.Regexp
	Cause
}

func questions(p Preset) (list []question) {
	for _, known := range p.Says {
		if known.Stop {
			list = append(list, question{regexp.MustCompile(known.Match), known.Cause})
		}
	}
	return list
}

// writeInput puts the input into a file that only the hub's user can read.
func (plan *runPlan) writeInput() error {
	plan.removeInput()
	file, err := os.CreateTemp(plan.request.Dir, "prompt-*.md")
	if err != nil {
		return err
	}
	plan.file = file.Name()
	_, err = file.WriteString(plan.input)
	plan.input = ""
	return errors.Join(err, file.Close())
}

func (plan *runPlan) removeInput() {
	if plan.file != "" {
		_ = os.Remove(plan.file)
	}
}

// cleanUp removes the input file and ends the processes that the program left behind.
func (plan *runPlan) cleanUp() {
	plan.removeInput()
	_ = plan.options.Kill(context.Background(), []parley.Run{{ID: plan.request.Run.ID}})
}
