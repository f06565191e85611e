package command

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Options apply to all programs. The zero value of a field means its default.
type Options struct {
	Environ     []string      // the hub's own environment; os.Environ
	Grace       time.Duration // between TERM and KILL; 10 s
	OutputLimit int64         // bytes that a run may write; 8 MiB
	Bin         string        // the directory of the parley program, which the runtime appends to the PATH of programs

	// Dirs are the directories in which programs may work, besides those of their agents; nil means any directory.
	Dirs []string
	// Home is the hub's home. A program may work there only in the directory of its own agent.
	Home string
	// Env are the names of variables that agents may get, besides those that a preset passes on; nil means any variable. A
	// trailing * matches all names with that prefix.
	Env []string

	// Launch returns the command line that starts a program as a process of a run. If it is nil, the runtime starts the program
	// itself.
	Launch func(run, path string, args []string) (program string, arguments []string)
	// Kill ends the processes that runs have left outside of their process groups. If it is nil, the runtime does not look for
	// such processes.
	Kill func(context.Context, []parley.Run) error
}

const (
	defaultGrace  = 10 * time.Second
	defaultOutput = 8 << 20
	maxLine       = 4 << 20
)

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.OutputLimit == 0 {
		o.OutputLimit = defaultOutput
	}
	if o.Launch == nil {
		o.Launch = func(_, path string, args []string) (string, []string) { return path, args }
	}
	if o.Kill == nil {
		o.Kill = func(context.Context, []parley.Run) error { return nil }
	}
	return o
}

// Runtime runs agents by the preset that their runtime names.
type Runtime struct {
	presets map[string]Preset
	options Options
}

// New makes a runtime of presets, as ParsePresets returns them.
func New(presets map[string]Preset, o Options) *Runtime { return &Runtime{presets, o.withDefaults()} }

// Names returns the names of the presets, sorted.
func (r *Runtime) Names() []string { return slices.Sorted(maps.Keys(r.presets)) }

// RunToken returns the kind of token that the programs of an agent get. The preset of the agent decides.
func (r *Runtime) RunToken(a parley.Agent) parley.TokenKind {
	if r.presets[a.Runtime].RunToken == tokenBearer {
		return parley.TokenBearer
	}
	return parley.TokenRun
}

// Check returns E003 if an agent cannot be run: there is no such preset, its program is missing, or its runtime_config is
// wrong.
func (r *Runtime) Check(_ context.Context, a parley.Agent) error {
	_, _, _, err := r.find(a)
	return err
}

// find returns the preset of an agent, the path of its program, and the agent's settings.
func (r *Runtime) find(a parley.Agent) (p Preset, path string, s settings, err error) {
	p, known := r.presets[a.Runtime]
	if !known {
		return p, "", s, parley.Errorf(parley.BadInput, "there is no runtime %q", a.Runtime).
			Suggest("%s", parley.DidYouMean(parley.Nearest(a.Runtime, r.Names()), "use one of "+strings.Join(r.Names(), ", ")))
	}
	if path = lookPath(p.Argv[0], r.options.Environ); path == "" {
		hint := "install it, or set its absolute path as argv of the runtime in config.yaml"
		if p.Install != "" {
			hint = "install it: " + p.Install
		}
		return p, "", s, parley.Errorf(parley.BadInput, "the program %s of the runtime %s is missing", p.Argv[0], a.Runtime).
			Suggest("%s", hint)
	}
	s, err = r.readSettings(p, a)
	return p, path, s, err
}

// lookPath finds a program in the PATH, as a shell does, and returns its path or "". It ignores relative directories.
func lookPath(program string, environ []string) string {
	dirs := []string{""}
	if !strings.ContainsRune(program, filepath.Separator) {
		dirs = filepath.SplitList(valueOf("PATH", environ))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func valueOf(name string, environ []string) (value string) {
	for _, entry := range environ {
		if text, found := strings.CutPrefix(entry, name+"="); found {
			value = text
		}
	}
	return value
}

// Run does one run. It starts one process, or a second one if the session to resume no longer exists.
func (r *Runtime) Run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	plan, err := r.newPlan(request)
	if err != nil {
		return parley.Result{}, err
	}
	defer plan.cleanUp()
	a := newAttempt(plan, plan.session)
	err = a.run(ctx)
	if err != nil && a.lostSession() && ctx.Err() == nil {
		if err = plan.setPrompt(request.Fresh()); err == nil {
			a = newAttempt(plan, "")
			err = a.run(ctx)
		}
	}
	result := a.result()
	if err != nil {
		result.Text = "" // the hub posts no incomplete answer
	}
	return result, err
}
