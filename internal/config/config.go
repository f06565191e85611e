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
var unrelatedVariables = []string{"PARLEY_HOME", "PARLEY_TOKEN", "PARLEY_URL", "PARLEY_RUN", "PARLEY_MESSAGE", "PARLEY_CONVERSATION", "PARLEY_TASK", "PARLEY_FROM", "PARLEY_TEST_POSTGRES"}

// Config is everything that is set.
type Config struct {
	Addr      string
	Store     string
	OwnerAuth string
	Clients   []string // programs that are clients of agents, beside the known ones
	Hosts     []string
	PublicURL string // of the hub for browsers; none: its own address
	NATS      NATS
	Log       Log
	Limits    parley.Limits
	Rate      Rate // of changes
	Reads     Rate
	Calls     Calls
	Stored    int64 // bytes of the artifacts that one agent has stored; 0: without limit

	Connections Connections

	AutoArchive time.Duration // 0: never
	Retention   Retention
	Runs        Runs
	Loops       Loops
	Ask         Ask
	Tiers       parley.Tiers
	Approvals   Approvals
	Webhook     Webhook
	Alerts      Alerts
	Traces      Traces

	// Runtimes, Providers and Notify are the sections of these names, each as YAML that says by name what there is. What
	// stood before it in the file is left blank, so that its lines and columns are those of the file.
	Runtimes, Providers, Notify []byte

	values   []Value
	warnings []string
}

// NATS is the server that everything is published to, how the hub and it know each other, and what its stream keeps. What is
// empty or 0 is none.
type NATS struct {
	URL, Hub      string
	NKey, Creds   string
	CA, Cert, Key string
	Age           time.Duration
	Bytes         int64
}

// Log is what is logged, and how.
type Log struct {
	Level, Format string
	Messages      Messages
}

// Messages is how much of the message log is kept.
type Messages struct {
	Size  int64 // of one file; 0: there is none
	Files int
}

// Alerts are what is too much, and for how long. What is 0 is not looked at.
type Alerts struct {
	Write, Read, Latency time.Duration
	Depth, Errors        float64 // per cent
	After, Clear         time.Duration
}

// Traces is where traces go.
type Traces struct {
	Endpoint string
	Headers  map[string]string
}

// Rate is how often one agent may do something.
type Rate struct {
	PerSecond float64 // 0: without limit
	Burst     int
}

// Calls is what one participant may have under way at once, and AllStreams what all may. 0: without limit.
type Calls struct {
	Reads, Searches, Changes, Waits, Streams, Uploads, Downloads int
	AllStreams                                                   int
}

// Connections is how many connections over TCP the hub takes, and how many of them from one address.
type Connections struct {
	Total, Address int
}

// Retention is how long and how much is kept. What is 0 does not limit.
type Retention struct {
	Messages, Artifacts Keep
	Events              time.Duration
	Runs                time.Duration // of their output
}

// Keep limits by age and by size.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

// Runs bounds what agents do when they are woken.
type Runs struct {
	Total    int           // at once, of all agents
	Deadline time.Duration // of one
	Grace    time.Duration // between asking one to end and killing it
	Output   int64         // bytes of one that are read
	Dirs     []string      // where programs may work, each with what is in it
	Env      []string      // names of variables that agents may be given; * at the end stands for any rest
}

// Loops says when agents that wake each other are stopped.
type Loops struct {
	Exchanges int           // in a row
	Quiet     time.Duration // after which they are forgotten
	Hops      int           // of one chain of automatic messages
}

// Approvals says how long requests for approvals wait. What is 0 never comes.
type Approvals struct {
	Expire time.Duration
	Remind time.Duration
}

// Ask bounds what it is to ask an agent.
type Ask struct {
	Wait  time.Duration // for the answer
	Slots int           // open asks to one agent
	Depth int           // asks that are nested in each other
}

// Webhook is where webhooks may lead beside public addresses.
type Webhook struct{ Allow []string }

// Value is the value of a key, and where it comes from.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // without secrets
	Source string `json:"source"`
}

// sourcedValue is a value that a source gives to a key.
type sourcedValue struct{ text, source string }

// Load reads all sources. The file may be absent; the environment is as of os.Environ, and flags are by the
// names of their keys. The error says which source is wrong, and how to mend it.
func Load(file string, environ []string, flags map[string]string) (*Config, error) {
	read, err := readFile(file)
	if err != nil {
		return nil, err
	}
	fromFile := read.found
	c := &Config{Runtimes: read.sections[runtimes].text, Providers: read.sections[providers].text, Notify: read.sections[notify].text}
	fromEnviron := c.readEnviron(environ)
	for _, key := range keys {
		value := sourcedValue{key.Default, "default"}
		if found, ok := fromFile[key.Name]; ok {
			value = found
		}
		if found, ok := fromEnviron[key.Name]; ok {
			value = found
		}
		if text, ok := flags[key.Name]; ok {
			value = sourcedValue{text, "--" + key.Flag()}
		}
		if err := c.set(key, value); err != nil {
			return nil, err
		}
	}
	for _, name := range sections {
		if section, found := read.sections[name]; found {
			c.values = append(c.values, Value{name, strings.Join(section.names, ", "), section.source})
		}
	}
	return c, nil
}

func (c *Config) set(key Key, value sourcedValue) error {
	if err := key.read(c, value.text); err != nil {
		return parley.Errorf(parley.BadInput, "the setting %s (%s) is not valid: %w", key.Name, value.source, err).
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
func (c *Config) readEnviron(environ []string) map[string]sourcedValue {
	byVariable, names := map[string]string{}, []string{}
	for _, key := range keys {
		byVariable[key.Variable()] = key.Name
		names = append(names, key.Variable())
	}
	found := map[string]sourcedValue{}
	for _, entry := range environ {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, prefix) || slices.Contains(unrelatedVariables, variable) {
			continue
		}
		if key, known := byVariable[variable]; known {
			if text != "" {
				found[key] = sourcedValue{text, variable}
			}
		} else if near := parley.Nearest(variable, names); len(near) > 0 {
			c.warnings = append(c.warnings, "the variable "+variable+" is not a setting: "+parley.DidYouMean(near, ""))
		}
	}
	return found
}

// Values are all keys with their values, in the order of the table, and of the sections that are there the names in
// them.
func (c *Config) Values() []Value { return slices.Clone(c.values) }

// Warnings are sentences about what was passed over.
func (c *Config) Warnings() []string { return slices.Clone(c.warnings) }
