package command

import "github.com/parley-hub/parley"

// Preset describes how to run a program.
type Preset struct {
	// Argv is the program and its arguments, which are constant. The runtime replaces three arguments: {resume} by Resume if the
	// run resumes a session, {model} by Model if the agent has a model, and {prompt-file} by the path of a file with the input.
	// Without {prompt-file}, the program reads the input from stdin.
	Argv   []string `yaml:"argv"`
	Resume []string `yaml:"resume"` // arguments that resume a session; {session} is its id
	Model  []string `yaml:"model"`  // arguments that choose a model; {model} is its name
	Input  Input    `yaml:"input"`  // the kind of input that the program reads
	Output Format   `yaml:"output"` // the format that the program writes to stdout

	Env  map[string]string `yaml:"env"`  // variables that the runtime sets
	Pass []string          `yaml:"pass"` // variables of the hub's own environment that the program gets

	RunToken RunToken `yaml:"run_token"` // which processes may use the token of a run

	Install string        `yaml:"install"` // how to install the program
	Exits   map[int]Cause `yaml:"exits"`   // the causes of failures by exit code
	Says    []TextCause   `yaml:"says"`    // the causes of failures by error text or stderr; the first match counts
	Lost    string        `yaml:"lost"`    // a regular expression for the message that the session to resume does not exist
}

// RunToken says which processes may use the token of a run.
type RunToken string

// The kinds of run tokens.
const (
	tokenSocket RunToken = "socket" // processes of the run, at the hub's socket; the default
	tokenBearer RunToken = "bearer" // every process that has the token, over TCP too
)

// Input is the kind of input that a program reads.
type Input string

// The kinds of input.
const (
	InputPrompt  Input = "prompt"  // the prompt of the run; the default
	InputMessage Input = "message" // only the texts of the messages that woke the run
	InputJSON    Input = "json"    // the document that a webhook gets, without the credential for a reply
)

// Format is the format of a program's output.
type Format string

// The formats.
const (
	FormatText     Format = "text"   // the whole output is the answer
	FormatClaude   Format = "claude" // Claude Code's stream-json, which other programs write too
	FormatCodex    Format = "codex"
	FormatGemini   Format = "gemini"
	FormatOpenCode Format = "opencode"
	FormatGoose    Format = "goose"
)

// Cause is the cause of a program's failure.
type Cause struct {
	Failure parley.Failure `yaml:"failure"` // default: final
	Reason  string         `yaml:"reason"`
	Hint    string         `yaml:"hint"`
}

// TextCause is a cause that the runtime recognizes by a text in the output.
type TextCause struct {
	Match string `yaml:"match"` // a regular expression
	Stop  bool   `yaml:"stop"`  // the text is a question to a person, which nobody can answer: the runtime ends the run at once
	Cause `yaml:",inline"`
}

// The arguments that the runtime replaces.
const (
	argResume     = "{resume}"
	argModel      = "{model}"
	argSession    = "{session}"
	argPromptFile = "{prompt-file}"
)

// arguments returns the arguments of a program. The caller has checked session and model, which may be empty.
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

// replaced returns a copy of a list in which a value replaces each argument that equals arg.
func replaced(list []string, arg, value string) []string {
	args := make([]string, len(list))
	for i := range list {
		if args[i] = list[i]; list[i] == arg {
			args[i] = value
		}
	}
	return args
}
