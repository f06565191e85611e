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
	job       parley.Job
	options   Options
	preset    Preset
	settings  settings
	path      string // of the program
	dir       string
	env       []string
	secrets   []string
	input     string     // for its standard input
	session   string     // of the client, to go on with
	questions []question // to a person
	file      string     // with the input, where the program takes one
}

// sessionID matches the session ids that the runtime accepts. An id becomes an argument and the name of a file.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$`)

func (r *Runtime) newPlan(job parley.Job) (*runPlan, error) {
	t := &runPlan{job: job, options: r.options}
	var err error
	if t.preset, t.path, t.settings, err = r.find(job.Agent); err != nil {
		e := parley.AsError(err)
		return nil, failed(Cause{parley.FailureNoStart, e.Message, e.Suggestion}, "")
	}
	t.env, t.secrets = environment(withBin(r.options.Environ, r.options.Bin), t.preset, t.settings, job)
	t.questions = questions(t.preset)
	own := filepath.Join(job.Dir, "work")
	if t.dir = t.settings.Dir; t.dir == "" {
		t.dir = own
	}
	if err = os.MkdirAll(own, 0o700); err == nil {
		err = t.chooseSession()
	}
	if err != nil {
		t.cleanUp()
		return nil, startError(t.preset.Argv[0], err)
	}
	return t, nil
}

// chooseSession chooses the session to resume, and the prompt for it. If the session cannot be resumed, the run starts a new
// one.
func (t *runPlan) chooseSession() error {
	t.session = t.job.Run.Session
	if t.session == "" {
		return t.setPrompt(t.job.Prompt)
	}
	if !sessionID.MatchString(t.session) || len(t.preset.Resume) == 0 {
		t.session = ""
		return t.setPrompt(t.job.Fresh())
	}
	return t.setPrompt(t.job.Prompt)
}

// setPrompt encodes a prompt as the input of the next attempt.
func (t *runPlan) setPrompt(p parley.Prompt) (err error) {
	if t.input, err = encodeInput(t.preset.Input, t.job, p); err != nil {
		return err
	}
	if !slices.Contains(t.preset.Argv, argPromptFile) {
		return nil
	}
	return t.writeInput()
}

// question matches output that asks a person something, and names the cause.
type question struct {
	*regexp.Regexp
	Cause
}

func questions(p Preset) (list []question) {
	for _, says := range p.Says {
		if says.Stop {
			list = append(list, question{regexp.MustCompile(says.Match), says.Cause})
		}
	}
	return list
}

// writeInput puts the input into a file that only the hub's user can read.
func (t *runPlan) writeInput() error {
	t.removeInput()
	file, err := os.CreateTemp(t.job.Dir, "prompt-*.md")
	if err != nil {
		return err
	}
	t.file = file.Name()
	_, err = file.WriteString(t.input)
	t.input = ""
	return errors.Join(err, file.Close())
}

func (t *runPlan) removeInput() {
	if t.file != "" {
		_ = os.Remove(t.file)
	}
}

// cleanUp removes the input file and ends the processes that the program left behind.
func (t *runPlan) cleanUp() {
	t.removeInput()
	_ = t.options.Kill(context.Background(), []parley.Run{{ID: t.job.Run.ID}})
}
