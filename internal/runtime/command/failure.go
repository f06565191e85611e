package command

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// commonCauses are causes that all clients report in similar words.
var commonCauses = []struct {
	match *regexp.Regexp
	Cause
}{
	{
		regexp.MustCompile(`(?i)rate.?limit|too many requests|quota exceeded|RESOURCE_EXHAUSTED`),
		Cause{parley.FailureBusy, "the model API has reached its rate limit", "wait, or raise the limit of the account"},
	},
	{
		regexp.MustCompile(`(?i)overloaded|service unavailable|bad gateway|internal server error|gateway time-?out`),
		Cause{parley.FailureServer, "the model API failed", "wait, and see the status page of its provider"},
	},
	{
		regexp.MustCompile(`(?i)unauthorized|invalid api key|authentication.?(failed|error)|permission.?denied`),
		Cause{parley.FailureFinal, "the model API did not accept the credentials", "sign in with the client once, or set its key for the hub"},
	},
}

// byStatus returns the common cause for an HTTP status.
func byStatus(status int) (Cause, bool) {
	switch {
	case status == 429:
		return commonCauses[0].Cause, true
	case status >= 500 && status <= 599:
		return commonCauses[1].Cause, true
	case status == 401, status == 403:
		return commonCauses[2].Cause, true
	default:
		return Cause{}, false
	}
}

// statusInText matches an HTTP status in a text: "status 429", "API Error: 529", `"code":503`.
var statusInText = regexp.MustCompile(`(?i)(?:status|error|code)\W{0,4}(?:code\W{0,4})?([45]\d\d)\b`)

// cause finds the cause of a failure from the status, text and exit code of a program. It returns false if no cause matches.
func (p Preset) cause(status int, text string, exit int) (Cause, bool) {
	for _, known := range p.Says {
		if regexp.MustCompile(known.Match).MatchString(text) {
			return known.Cause, true
		}
	}
	if found := statusInText.FindStringSubmatch(text); status == 0 && found != nil {
		status, _ = strconv.Atoi(found[1])
	}
	if cause, known := byStatus(status); known {
		return cause, true
	}
	if cause, known := p.Exits[exit]; known {
		return cause, true
	}
	for _, c := range commonCauses {
		if c.match.MatchString(text) {
			return c.Cause, true
		}
	}
	return Cause{}, false
}

// failed makes the error of a run. A cause without a kind of failure is final: another attempt would not help.
func failed(c Cause, detail string) *parley.RunError {
	if c.Failure == "" {
		c.Failure = parley.FailureFinal
	}
	reason := c.Reason
	if detail = failureDetail(detail); detail != "" {
		reason += ": " + detail
	}
	return &parley.RunError{Trouble: parley.Trouble{Failure: c.Failure, Reason: reason}, Hint: c.Hint}
}

const maxDetail = 500

// stackLine matches a line of a stack trace of Node.js.
var stackLine = regexp.MustCompile(`(?m)^\s+at .*\n?`)

// failureDetail returns the end of a text, which usually has the cause of a failure, without stack traces.
func failureDetail(text string) string {
	text = strings.TrimSpace(stackLine.ReplaceAllString(text, ""))
	if len(text) > maxDetail {
		text = strings.ToValidUTF8("…"+text[len(text)-maxDetail:], "")
	}
	return text
}

// The text and exit code with which Options.Launch reports that it cannot start the program.
const (
	launchFailed = "the program cannot be started: "
	launchExit   = 127
)

// launchFailure returns why Options.Launch did not start the program. It returns false if the program was started.
func launchFailure(exit int, output string) (error, bool) {
	reason, found := strings.CutPrefix(strings.TrimSpace(output), launchFailed)
	return errors.New(reason), found && exit == launchExit
}

func startError(program string, err error) *parley.RunError {
	return failed(Cause{parley.FailureNoStart, fmt.Sprintf("the hub could not start %s", program), "check that the hub's user can run it"}, err.Error())
}
