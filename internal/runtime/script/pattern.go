package script

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// The limits of regular expressions. The time of a match grows with the length of the text times the number of steps, and
// nothing can interrupt a match.
const (
	maxPatternLength   = 1 << 10 // bytes
	maxPatternSteps    = 2000    // steps of one regular expression, with its repetitions written out
	maxStepsOfPatterns = 20_000  // of all rules together
)

// compile returns a regular expression and the number of its steps. It returns an error if the expression is malformed or
// exceeds a limit.
func compile(pattern string) (*regexp.Regexp, int, error) {
	if len(pattern) > maxPatternLength {
		return nil, 0, fmt.Errorf("it has %d bytes, the limit is %d", len(pattern), maxPatternLength)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if steps := len(program.Inst); steps > maxPatternSteps {
		return nil, 0, fmt.Errorf("it has too many repetitions: %d steps, the limit is %d", steps, maxPatternSteps)
	}
	compiled, err := regexp.Compile(pattern)
	return compiled, len(program.Inst), err
}
