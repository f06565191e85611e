package command

import "github.com/parley-hub/parley"

// Preset is how one program is run.
type Preset struct {
	// Argv is the program and its arguments, which are constant. Three arguments stand for others:
	// {resume} for Resume and {model} for Model, where there is a session to resume and a model is set, and
	// {prompt-file} for the path of a file with the input, which else goes in on stdin.
	Argv   []string `yaml:"argv"`
	Resume []string `yaml:"resume"` // arguments that resume a session; {session} is its id
	Model  []string `yaml:"model"`  // arguments that choose a model; {model} is its name
	Input  Input    `yaml:"input"`  // what goes in on stdin
	Output Format   `yaml:"output"` // how stdout is read

	Env  map[string]string `yaml:"env"`  // variables that are set
	Pass []string          `yaml:"pass"` // variables of the hub's own environment that are passed on

	RunToken RunToken `yaml:"run_token"` // how its processes prove to the hub whose they are

	Install string        `yaml:"install"` // what to do where the program is missing
	Exits   map[int]Cause `yaml:"exits"`   // what exit codes mean
	Says    []Says        `yaml:"says"`    // what words mean, in an error or on stderr; the first that fits counts
	Lost    string        `yaml:"lost"`    // a pattern of how it says that the session to resume is not there
}

// RunToken says where the token of a run is good.
type RunToken string

// On the hub's socket, for processes of the run (the default); or for every process that has the token, over TCP too.
const (
	tokenSocket RunToken = "socket"
	tokenBearer RunToken = "bearer"
)

// Input is what a program reads on its standard input.
type Input string

// The inputs.
const (
	InputPrompt  Input = "prompt"  // what a model is told; the default
	InputMessage Input = "message" // what the senders of the triggers wrote, and nothing else
	InputJSON    Input = "json"    // the document that a webhook gets, without a way to reply
)

// Format is a way to read what a program writes.
type Format string

// The formats.
const (
	FormatText     Format = "text"   // all of it is the answer
	FormatClaude   Format = "claude" // Claude Code's stream-json, which others write too
	FormatCodex    Format = "codex"
	FormatGemini   Format = "gemini"
	FormatOpenCode Format = "opencode"
	FormatGoose    Format = "goose"
)

// Cause is why a program failed.
type Cause struct {
	Failure parley.Failure `yaml:"failure"` // final, where nothing is said
	Reason  string         `yaml:"reason"`
	Hint    string         `yaml:"hint"`
}

// Says is a cause that is told by words.
type Says struct {
	Match string `yaml:"match"` // a regular expression
	Stop  bool   `yaml:"stop"`  // it waits for a person: the run ends as soon as this is seen
	Cause `yaml:",inline"`
}

// The arguments that stand for others.
const (
	argResume     = "{resume}"
	argModel      = "{model}"
	argSession    = "{session}"
	argPromptFile = "{prompt-file}"
)

// arguments are what a program is called with. session and model are checked words, or empty.
func (p Preset) arguments(session, model, promptFile string) (args []string) {
	for _, arg := range p.Argv[1:] {
		switch arg {
		case argResume:
			if session != "" {
				args = append(args, replaced(p.Resume, argSession, session)...)
			}
		case argModel:
			if model != "" {
				args = append(args, replaced(p.Model, argModel, model)...)
			}
		case argPromptFile:
			args = append(args, promptFile)
		default:
			args = append(args, arg)
		}
	}
	return args
}

// replaced puts a value in the place of the argument that stands for it. The list itself stays as it is.
func replaced(list []string, arg, value string) []string {
	args := make([]string, len(list))
	for i := range list {
		if args[i] = list[i]; list[i] == arg {
			args[i] = value
		}
	}
	return args
}
