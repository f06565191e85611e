// Package config is what a hub can be told. One table has every key with its type, its default and a line of
// documentation. A value comes from the default, the file config.yaml of the home, the environment or a flag,
// in rising order, and knows from which.
package config

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// SQLite is the store that needs nothing but the home.
const SQLite = "sqlite"

const prefix = "PARLEY_"

// Variables that begin like those of keys and are something else.
var otherVariables = []string{"PARLEY_HOME", "PARLEY_TOKEN", "PARLEY_URL", "PARLEY_RUN", "PARLEY_TEST_POSTGRES"}

// Config is everything that is set.
type Config struct {
	Addr      string
	Store     string
	OwnerAuth string
	Hosts     []string
	Log       Log
	Limits    parley.Limits
	Rate      Rate

	AutoArchive time.Duration // 0: never
	Retention   Retention

	values   []Value
	warnings []string
}

// Log is what is logged, and how.
type Log struct{ Level, Format string }

// Rate is how often one agent may change anything.
type Rate struct {
	PerSecond float64 // 0: without limit
	Burst     int
}

// Retention is how long and how much is kept. What is 0 does not limit.
type Retention struct {
	Messages, Artifacts Keep
	Events              time.Duration
}

// Keep limits by age and by size.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

// Value is the value of a key, and where it comes from.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // without secrets
	Source string `json:"source"`
}

// given is a value that a source gives to a key.
type given struct{ text, source string }

// Load reads all sources. The file may be absent; the environment is as of os.Environ, and flags are by the
// names of their keys. The error says which source is wrong, and how to mend it.
func Load(file string, environ []string, flags map[string]string) (*Config, error) {
	fromFile, err := readFile(file)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	fromEnviron := c.readEnviron(environ)
	for _, key := range keys {
		value := given{key.Default, "default"}
		if found, ok := fromFile[key.Name]; ok {
			value = found
		}
		if found, ok := fromEnviron[key.Name]; ok {
			value = found
		}
		if text, ok := flags[key.Name]; ok {
			value = given{text, "--" + key.Flag()}
		}
		if err := c.set(key, value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Config) set(key Key, value given) error {
	if err := key.read(c, value.text); err != nil {
		return parley.Errorf(parley.BadInput, "the setting %s (%s) cannot be used: %w", key.Name, value.source, err).
			Suggest("%s: %s", key.Name, strings.ReplaceAll(key.Type, "`", ""))
	}
	if key.hide != nil {
		value.text = key.hide(value.text)
	}
	c.values = append(c.values, Value{key.Name, value.text, value.source})
	return nil
}

// readEnviron finds the variables that set keys. An empty one sets nothing. One that nearly is such a variable
// is a warning only: the environment is shared with others.
func (c *Config) readEnviron(environ []string) map[string]given {
	byVariable, names := map[string]string{}, []string{}
	for _, key := range keys {
		byVariable[key.Variable()] = key.Name
		names = append(names, key.Variable())
	}
	found := map[string]given{}
	for _, entry := range environ {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, prefix) || slices.Contains(otherVariables, variable) {
			continue
		}
		if key, known := byVariable[variable]; known {
			if text != "" {
				found[key] = given{text, variable}
			}
		} else if near := parley.Nearest(variable, names); len(near) > 0 {
			c.warnings = append(c.warnings, "the variable "+variable+" sets nothing: "+parley.DidYouMean(near, ""))
		}
	}
	return found
}

// Values are all keys with their values, in the order of the table.
func (c *Config) Values() []Value { return slices.Clone(c.values) }

// Warnings are sentences about what was passed over.
func (c *Config) Warnings() []string { return slices.Clone(c.warnings) }
