package script

import "github.com/parley-hub/parley"

const (
	maxBytes = 64 << 10 // of the rules' text
	maxRules = 1000
	maxSteps = 100 // of one rule, including the steps under otherwise
)

// rules are the rules of an agent. The first rule that matches a message counts.
type rules []rule

type rule struct {
	match match
	steps []step
}

// parseRules parses a list of rules. Each has match and do; the last one may have else instead.
func parseRules(text string) (rules, error) {
	if len(text) > maxBytes {
		return nil, parley.Errorf(parley.BadInput, "the rules have %d bytes, the limit is %d", len(text), maxBytes).
			Because(parley.TooLarge).Suggest("shorten them, or split the agent in two")
	}
	document, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	list, err := document.list()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > maxRules {
		return nil, document.errorf("there are %d rules", len(list)).Suggest("use 1 to %d", maxRules)
	}
	var parsed rules
	size := 0
	for i, item := range list {
		item.name = "a rule"
		r, err := item.rule(i == len(list)-1)
		if err != nil {
			return nil, err
		}
		if size += r.match.size; size > maxStepsOfPatterns {
			return nil, item.errorf("the regular expressions of all rules have more than %d steps", maxStepsOfPatterns).
				Suggest("use fewer repetitions, or use contains")
		}
		parsed = append(parsed, r)
	}
	return parsed, nil
}

func (v value) rule(last bool) (r rule, err error) {
	fields, err := v.fields("match", "do", "else")
	if err != nil {
		return r, err
	}
	otherwise, isElse := fields["else"]
	matching, hasMatch := fields["match"]
	do, hasDo := fields["do"]
	switch {
	case isElse && (hasMatch || hasDo):
		return r, v.errorf("a rule with else cannot have match or do").Suggest("write the steps under else")
	case isElse && !last:
		return r, v.errorf("a rule follows else").Suggest("put else last: it matches everything")
	case isElse:
		do = otherwise
	case !hasMatch || !hasDo:
		return r, v.errorf("a rule needs match and do").Suggest("write match and do, or else for what no other rule matches")
	default:
		if r.match, err = matching.match(); err != nil {
			return r, err
		}
	}
	r.steps, err = newStepParser(r.match).steps(do)
	return r, err
}
