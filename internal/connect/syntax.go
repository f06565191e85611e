package connect

import (
	"errors"
	"path"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect/jsonc"
)

// What the clients read, tried with the real ones. A client leaves a whole file out of account that has more: all its settings are lost
// then. Nobody has tried Cursor.
var (
	claudeSyntax = jsonc.Syntax{Mark: true}
	codexSyntax  = jsonc.Syntax{}
	geminiSyntax = jsonc.Syntax{Comments: true}
)

// checkSyntax returns E003 for a file that Parley could edit, and the client cannot read.
func (s Setup) checkSyntax(f file, text []byte) error {
	if text == nil || path.Ext(f.name) != ".json" {
		return nil
	}
	if err := s.Client.syntax.Check(text); err != nil {
		return &parseProblem{f, err, s.Client.Title + " cannot read %s: %v"}
	}
	return nil
}

// parseProblem says that a file cannot be parsed. format is the sentence, for its path and the cause.
type parseProblem struct {
	file   file
	cause  error
	format string
}

func (p *parseProblem) Error() string { return p.explain("").Error() }

func (p *parseProblem) explain(suggestion string) *parley.Error {
	return parley.Errorf(parley.BadInput, p.format, p.file.path(), p.cause).Suggest("%s", suggestion)
}

// explain adds to a problem with a file what to do before a command, which changes the connection of the client. A mere check has no
// command.
func (s Setup) explain(err error, command string) error {
	problem, isProblem := errors.AsType[*parseProblem](err)
	if !isProblem {
		return err
	}
	todo := "correct the file"
	if errors.Is(problem.cause, errNotOurs) {
		todo = "move the file away"
	}
	if command != "" {
		todo += ", and " + command + " " + s.Client.Title + " again; nothing was changed"
	}
	return problem.explain(todo)
}
