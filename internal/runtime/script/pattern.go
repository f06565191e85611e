package script

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// What regular expressions may cost. Their time grows with the text times the number of their steps, and nothing
// can interrupt one.
const (
	maxPatternLength   = 1 << 10 // bytes
	maxPatternSteps    = 2000    // steps of one, once its repetitions are written out
	maxStepsOfPatterns = 20_000  // of all rules together
)

// compile makes a regular expression, and says how many steps it has.
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
		return nil, 0, fmt.Errorf("it repeats too much: it has %d steps, the limit is %d", steps, maxPatternSteps)
	}
	made, err := regexp.Compile(pattern)
	return made, len(program.Inst), err
}
