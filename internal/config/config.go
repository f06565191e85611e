// Package config has the settings of a hub. One table has every key with its type, its default and its documentation. A
// value comes from the default, config.yaml in the home, the environment or a flag, each of which overrides the ones
// before it. Each value keeps its source.
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

// unrelatedVariables begin like the variables of settings, but are something else.
var unrelatedVariables = []string{"PARLEY_HOME", "PARLEY_TOKEN", "PARLEY_URL", "PARLEY_RUN", "PARLEY_MESSAGE", "PARLEY_CONVERSATION", "PARLEY_TASK", "PARLEY_FROM", "PARLEY_TEST_POSTGRES"}

// Config has the values of all settings.
type Config struct {
	Addr      string
	Store     string
	OwnerAuth string
	Clients   []string // programs that are clients of agents, in addition to the known ones
	Hosts     []string
	PublicURL string // the hub's URL for browsers; empty: its own address
	NATS      NATS
	Log       Log
	Limits    parley.Limits
	Rate      Rate // limits changes
	Reads     Rate
	Calls     Calls
	Stored    int64 // bytes of the artifacts of one agent; 0: no limit

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

	// Runtimes, Providers and Notify are the sections with these names, each as YAML. Blanks replace everything before a
	// section, so that its lines and columns are those of the file.
	Runtimes, Providers, Notify []byte

	values   []Value
	warnings []string
}

// NATS is the server to which the hub publishes messages, the credentials, and the limits of the stream. An empty or 0
// value means none.
type NATS struct {
	URL, Hub      string
	NKey, Creds   string
	CA, Cert, Key string
	Age           time.Duration
	Bytes         int64
}

// Log is the level and format of the log, and the message log.
type Log struct {
	Level, Format string
	Messages      Messages
}

// Messages limits the message log.
type Messages struct {
	Size  int64 // bytes of one file; 0: no message log
	Files int
}

// Alerts has the thresholds of alerts and their durations. A threshold of 0 is off.
type Alerts struct {
	Write, Read, Latency time.Duration
	Depth, Errors        float64 // percent
	After, Clear         time.Duration
}

// Traces is where the hub sends traces.
type Traces struct {
	Endpoint string
	Headers  map[string]string
}

// Rate limits how often one agent may do something.
type Rate struct {
	PerSecond float64 // 0: no limit
	Burst     int
}

// Calls limits the concurrent calls of one participant; AllStreams limits the streams of all participants. 0 means no
// limit.
type Calls struct {
	Reads, Searches, Changes, Waits, Streams, Uploads, Downloads int
	AllStreams                                                   int
}

// Connections limits TCP connections in total and from one address.
type Connections struct {
	Total, Address int
}

// Retention limits how long and how much the hub keeps. 0 means no limit.
type Retention struct {
	Messages, Artifacts Keep
	Events              time.Duration
	Runs                time.Duration // retention of their output
}

// Keep limits by age and by size.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

// Runs limits the runs of agents.
type Runs struct {
	Total    int           // concurrent runs of all agents
	Deadline time.Duration // of one run
	Grace    time.Duration // between the request to end and the kill
	Output   int64         // bytes read of the output of one run
	Dirs     []string      // directories in which programs may work
	Env      []string      // names of variables that agents may get; * at the end matches any rest
}

// Loops says when the hub stops agents that wake each other.
type Loops struct {
	Exchanges int           // in a row
	Quiet     time.Duration // after which wake-ups are forgotten
	Hops      int           // automatic messages in one chain
}

// Approvals says when requests for approval expire, and when the hub reminds approvers. 0 means never.
type Approvals struct {
	Expire time.Duration
	Remind time.Duration
}

// Ask limits asks.
type Ask struct {
	Wait  time.Duration // for the answer
	Slots int           // open asks to one agent
	Depth int           // nested asks
}

// Webhook has the places that webhooks may call besides public addresses.
type Webhook struct{ Allow []string }

// Value is the value of a key and its source.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // the value, without secrets
	Source string `json:"source"`
}

// sourcedValue is the text that a source gives to a key.
type sourcedValue struct{ text, source string }

// Load reads all sources. The file may be missing; environ has the form of os.Environ, and flags have the names of
// keys. The error names the wrong source and says how to fix it.
func Load(file string, environ []string, flags map[string]string) (*Config, error) {
	read, err := readFile(file)
	if err != nil {
		return nil, err
	}
	fromFile := read.found
	c := &Config{Runtimes: read.sections[runtimes].text, Providers: read.sections[providers].text, Notify: read.sections[notify].text}
	fromEnviron := c.readEnviron(environ)
	for _, key := range allKeys {
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

// readEnviron finds the variables that set keys. An empty variable sets nothing. A variable that resembles one of them
// gives only a warning, because other programs use the environment too.
func (c *Config) readEnviron(environ []string) map[string]sourcedValue {
	byVariable, names := map[string]string{}, []string{}
	for _, key := range allKeys {
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

// Values returns all keys with their values, in the order of the table, followed by the sections of the file with the
// names in them.
func (c *Config) Values() []Value { return slices.Clone(c.values) }

// Warnings returns sentences about variables that were ignored.
func (c *Config) Warnings() []string { return slices.Clone(c.warnings) }
