package command

import (
	"fmt"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parley-hub/parley"
)

// settings is the runtime_config of an agent. It cannot set a program or its arguments.
type settings struct {
	Dir      string   `json:"dir"`      // the working directory, instead of the agent's own
	Model    string   `json:"model"`    // only if the preset can choose a model
	Deadline string   `json:"deadline"` // how long a run may last, like 10m
	Env      []string `json:"env"`      // names of further variables of the hub's environment that the program gets
}

// The limits of a deadline are the same as those of runs.deadline in config.yaml.
const (
	minRunTime = time.Second
	maxRunTime = 7 * 24 * time.Hour
)

// Deadline returns how long a run of an agent may last by its runtime_config, or 0 if it sets no deadline.
func (*Runtime) Deadline(a parley.Agent) time.Duration {
	var s settings
	if len(a.RuntimeConfig) == 0 || json.Unmarshal(a.RuntimeConfig, &s) != nil {
		return 0 // Check returns the error
	}
	limit, _ := s.limit()
	return limit
}

func (s settings) limit() (time.Duration, error) {
	if s.Deadline == "" {
		return 0, nil
	}
	limit, err := time.ParseDuration(s.Deadline)
	if err != nil || limit < minRunTime || limit > maxRunTime {
		return 0, fmt.Errorf("deadline %q is not a duration from 1s to 168h, such as 10m", s.Deadline)
	}
	return limit, nil
}

// argumentPattern matches the values that may become an argument. A program cannot take them for a flag.
var argumentPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$`)

func (r *Runtime) readSettings(p Preset, a parley.Agent) (s settings, err error) {
	if len(a.RuntimeConfig) > 0 {
		err = json.Unmarshal(a.RuntimeConfig, &s, json.RejectUnknownMembers(true))
	}
	if err == nil {
		err = s.check(p)
	}
	if err == nil && s.Dir != "" {
		err = r.options.checkDir(s.Dir, a.ID)
	}
	if err == nil {
		err = r.checkEnv(s.Env)
	}
	if err != nil {
		return s, parley.Errorf(parley.BadInput, "the runtime_config of %s is not valid: %v", a.ID, err).
			Suggest(`it may have dir, model, deadline and env, like {"dir": "/srv/project", "model": "opus", "deadline": "10m", "env": ["MY_KEY"]}`)
	}
	return s, nil
}

func (s settings) check(p Preset) error {
	if s.Model != "" && !argumentPattern.MatchString(s.Model) {
		return fmt.Errorf("model %q is not a name", s.Model)
	}
	if s.Model != "" && len(p.Model) == 0 {
		return fmt.Errorf("the runtime cannot choose a model")
	}
	if _, err := s.limit(); err != nil {
		return err
	}
	return checkPassed("env", s.Env)
}
