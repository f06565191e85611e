package config

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Key is one thing that can be set.
type Key struct {
	Name    string
	Type    string // what is written there, for people
	Default string
	Doc     string

	read   func(c *Config, text string) error
	hide   func(text string) string // what may be shown of a secret
	isList bool
}

// Variable is the name of the environment variable that sets it.
func (k Key) Variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Flag is the name of the flag that sets it, without dashes.
func (k Key) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.Name) }

// Secret says whether its value may hold a password.
func (k Key) Secret() bool { return k.hide != nil }

// hubKeys are those of what a hub does.
var hubKeys = []Key{
	{
		Name: "addr", Type: "host:port", Default: "127.0.0.1:7717",
		Doc:  "Where the hub listens for HTTP. Port 0 takes any that is free.",
		read: into(func(c *Config) *string { return &c.Addr }, address),
	},
	{
		Name: "store", Type: "`sqlite` or a URL", Default: "sqlite",
		Doc: "Where everything is kept: in the home, or in a PostgreSQL database (`postgres://user:password@host/database`). " +
			"Put it into config.yaml: doctor, backup and restore need it too.",
		read: into(func(c *Config) *string { return &c.Store }, storeAddress), hide: hidePassword,
	},
	{
		Name: "owner_auth", Type: "`socket` or `token`", Default: "socket",
		Doc:  "How the local owner is known: by the unix socket, or by a token only.",
		read: into(func(c *Config) *string { return &c.OwnerAuth }, oneOf("socket", "token")),
	},
	{
		Name: "clients", Type: "list of names", isList: true,
		Doc:  "Names of programs that are clients of agents, beside those with a preset. Commands that such a program starts act as the agent whose session it has open (see [security.md](security.md#the-shell-of-an-attached-client)).",
		read: into(func(c *Config) *[]string { return &c.Clients }, programNames),
	},
	{
		Name: "hosts", Type: "list of names", isList: true,
		Doc:  "Further names under which browsers and programs may reach the hub.",
		read: into(func(c *Config) *[]string { return &c.Hosts }, hostNames),
	},
	{
		Name: "public_url", Type: "URL",
		Doc:  "Where people reach the hub with a browser (`https://parley.example.org`): links in notifications begin with it. Without it, the address where the hub listens.",
		read: into(func(c *Config) *string { return &c.PublicURL }, origin),
	},
	{
		Name: "nats.url", Type: "URL, or several with commas",
		Doc:  "The NATS server to which every message is published, with JetStream (`nats://host:4222`, `tls://host:4222`); see [nats.md](nats.md). Without it, none.",
		read: into(func(c *Config) *string { return &c.NATS.URL }, natsAddress), hide: hideUsers,
	},
	{
		Name: "nats.hub", Type: "name", Default: "local",
		Doc:  "The hub's name in subjects and in the name of its stream: `parley.<hub>.…`, `PARLEY_<hub>`. No other hub at the server may have it.",
		read: into(func(c *Config) *string { return &c.NATS.Hub }, natsName),
	},
	{
		Name: "nats.nkey", Type: "path",
		Doc:  "The file with the seed of the hub's NKey, for nobody else to read. A path that is not absolute begins at the home, as those that follow.",
		read: into(func(c *Config) *string { return &c.NATS.NKey }, anyText),
	},
	{
		Name: "nats.creds", Type: "path",
		Doc:  "The file with the hub's credentials, for nobody else to read.",
		read: into(func(c *Config) *string { return &c.NATS.Creds }, anyText),
	},
	{
		Name: "nats.tls.ca", Type: "path",
		Doc:  "The certificates by which the server is known. Without it, those of the system.",
		read: into(func(c *Config) *string { return &c.NATS.CA }, anyText),
	},
	{
		Name: "nats.tls.cert", Type: "path",
		Doc:  "The hub's own certificate, where the server wants one.",
		read: into(func(c *Config) *string { return &c.NATS.Cert }, anyText),
	},
	{
		Name: "nats.tls.key", Type: "path",
		Doc:  "The key of that certificate, for nobody else to read.",
		read: into(func(c *Config) *string { return &c.NATS.Key }, anyText),
	},
	{
		Name: "nats.stream.age", Type: "duration or `off`", Default: "7d",
		Doc:  "How long the stream keeps what was published.",
		read: into(func(c *Config) *time.Duration { return &c.NATS.Age }, durationOrOff),
	},
	{
		Name: "nats.stream.size", Type: "size or `off`", Default: "1GiB",
		Doc:  "How much the stream keeps: the oldest goes first.",
		read: into(func(c *Config) *int64 { return &c.NATS.Bytes }, sizeOrOff),
	},
	{
		Name: "log.level", Type: "`debug`, `info`, `warn` or `error`", Default: "info",
		Doc:  "The least important lines that are logged.",
		read: into(func(c *Config) *string { return &c.Log.Level }, oneOf("debug", "info", "warn", "error")),
	},
	{
		Name: "log.format", Type: "`auto`, `text` or `json`", Default: "auto",
		Doc:  "How lines are logged; `auto` is text on a terminal and JSON elsewhere.",
		read: into(func(c *Config) *string { return &c.Log.Format }, oneOf("auto", "text", "json")),
	},
	{
		Name: "limits.body", Type: "size", Default: "256KiB",
		Doc:  "The most that text, code and payload of a message may have together.",
		read: into(func(c *Config) *int { return &c.Limits.Body }, sizeWithin[int](1, 64<<20)),
	},
	{
		Name: "limits.artifact", Type: "size", Default: "64MiB",
		Doc:  "The most that one artifact may have.",
		read: into(func(c *Config) *int64 { return &c.Limits.Artifact }, sizeWithin[int64](1, 1<<40)),
	},
	{
		Name: "limits.depth", Type: "number", Default: "32",
		Doc:  "How deep the JSON of a message may be nested.",
		read: into(func(c *Config) *int { return &c.Limits.Depth }, upTo(1000)),
	},
	{
		Name: "limits.mentions", Type: "number", Default: "64",
		Doc:  "How many participants a message may mention.",
		read: into(func(c *Config) *int { return &c.Limits.Mentions }, upTo(1000)),
	},
	{
		Name: "rate.per_second", Type: "number", Default: "50",
		Doc:  "How many changes a second one agent may make; 0 is without limit.",
		read: into(func(c *Config) *float64 { return &c.Rate.PerSecond }, perSecond),
	},
	{
		Name: "rate.burst", Type: "number", Default: "200",
		Doc:  "How many changes an agent that was quiet may make at once.",
		read: into(func(c *Config) *int { return &c.Rate.Burst }, upTo(1_000_000)),
	},
	{
		Name: "auto_archive", Type: "duration or `off`", Default: off,
		Doc:  "Archive conversations that were idle for so long.",
		read: into(func(c *Config) *time.Duration { return &c.AutoArchive }, durationOrOff),
	},
	{
		Name: "retention.messages.age", Type: "duration or `off`", Default: off,
		Doc:  "Erase messages older than this.",
		read: into(func(c *Config) *time.Duration { return &c.Retention.Messages.Age }, durationOrOff),
	},
	{
		Name: "retention.messages.size", Type: "size or `off`", Default: off,
		Doc:  "Erase the oldest messages when all bodies have more than this.",
		read: into(func(c *Config) *int64 { return &c.Retention.Messages.Bytes }, sizeOrOff),
	},
	{
		Name: "retention.artifacts.age", Type: "duration or `off`", Default: off,
		Doc:  "Remove the bodies of artifacts older than this.",
		read: into(func(c *Config) *time.Duration { return &c.Retention.Artifacts.Age }, durationOrOff),
	},
	{
		Name: "retention.artifacts.size", Type: "size or `off`", Default: off,
		Doc:  "Remove the oldest bodies of artifacts when all have more than this.",
		read: into(func(c *Config) *int64 { return &c.Retention.Artifacts.Bytes }, sizeOrOff),
	},
	{
		Name: "retention.events", Type: "duration or `off`", Default: "7d",
		Doc:  "How long events are kept, from which streams resume; `off` keeps them for ever.",
		read: into(func(c *Config) *time.Duration { return &c.Retention.Events }, durationOrOff),
	},
	{
		Name: "retention.runs.age", Type: "duration or `off`", Default: off,
		Doc:  "Erase the output of runs that ended longer ago than this.",
		read: into(func(c *Config) *time.Duration { return &c.Retention.Runs }, durationOrOff),
	},
	{
		Name: "runs.total", Type: "number", Default: "64",
		Doc:  "How many runs there may be at once, of all agents together.",
		read: into(func(c *Config) *int { return &c.Runs.Total }, upTo(10_000)),
	},
	{
		Name: "runs.deadline", Type: "duration", Default: "30m",
		Doc:  "How long a run may last, unless its agent's `runtime_config` says otherwise.",
		read: into(func(c *Config) *time.Duration { return &c.Runs.Deadline }, durationWithin(time.Second, 7*day)),
	},
	{
		Name: "runs.grace", Type: "duration", Default: "10s",
		Doc:  "How long a run has to end: by itself when the hub stops, and a program that was told to end before it is killed.",
		read: into(func(c *Config) *time.Duration { return &c.Runs.Grace }, durationWithin(0, time.Hour)),
	},
	{
		Name: "runs.output", Type: "size", Default: "8MiB",
		Doc:  "The most that one run may write.",
		read: into(func(c *Config) *int64 { return &c.Runs.Output }, sizeWithin[int64](64<<10, 1<<30)),
	},
	{
		Name: "runs.dirs", Type: "list of directories", Default: "~", isList: true,
		Doc:  "The directories in which programs of agents may work (`runtime_config.dir`), with everything below them. The hub's home, and directories that contain it, are never allowed. `~` is the home directory of the hub's user.",
		read: into(func(c *Config) *[]string { return &c.Runs.Dirs }, directories),
	},
	{
		Name: "runs.env", Type: "list of variables", isList: true,
		Doc:  "The variables of the hub's environment that `runtime_config.env` of an agent may name, beside those that a runtime passes on to its program. `AWS_*` stands for all names that begin with `AWS_`.",
		read: into(func(c *Config) *[]string { return &c.Runs.Env }, variables),
	},
	{
		Name: "loops.exchanges", Type: "number", Default: "8",
		Doc:  "After how many automatic wakes in a row two agents, or a chain of them, are stopped.",
		read: into(func(c *Config) *int { return &c.Loops.Exchanges }, upTo(1000)),
	},
	{
		Name: "loops.quiet", Type: "duration", Default: "10m",
		Doc:  "After how long without another such wake they may go on.",
		read: into(func(c *Config) *time.Duration { return &c.Loops.Quiet }, durationWithin(time.Second, 30*day)),
	},
	{
		Name: "loops.hops", Type: "number", Default: "32",
		Doc:  "How long a chain of automatic messages may become.",
		read: into(func(c *Config) *int { return &c.Loops.Hops }, upTo(1000)),
	},
	{
		Name: "ask.wait", Type: "duration", Default: "2m",
		Doc:  "How long an ask waits for its answer. What comes later is brought to whoever has asked.",
		read: into(func(c *Config) *time.Duration { return &c.Ask.Wait }, durationWithin(time.Second, day)),
	},
	{
		Name: "ask.slots", Type: "number", Default: "16",
		Doc:  "How many asks may be open to one agent. Each is answered by a run of its own.",
		read: into(func(c *Config) *int { return &c.Ask.Slots }, upTo(1000)),
	},
	{
		Name: "ask.depth", Type: "number", Default: "3",
		Doc:  "How many asks may be nested in each other.",
		read: into(func(c *Config) *int { return &c.Ask.Depth }, upTo(100)),
	},
	{
		Name: "tiers", Type: "list of pairs", Default: "command-command,command-pm,pm-worker", isList: true,
		Doc:  "Which tiers may contact each other, in either direction. Pairs that are not in it may not.",
		read: into(func(c *Config) *parley.Tiers { return &c.Tiers }, tierPairs),
	},
	{
		Name: "approvals.expire", Type: "duration or `off`", Default: off,
		Doc:  "After how long a request for an approval that nobody has answered ends.",
		read: into(func(c *Config) *time.Duration { return &c.Approvals.Expire }, durationOrOff),
	},
	{
		Name: "approvals.remind", Type: "duration or `off`", Default: "1h",
		Doc:  "After how long those who decide are reminded; then each time after as long as it has waited, at most a day.",
		read: into(func(c *Config) *time.Duration { return &c.Approvals.Remind }, durationOrOff),
	},
	{
		Name: "webhook.allow", Type: "list of hosts, addresses and networks", isList: true,
		Doc:  "Where webhooks may lead although it is no public address: `hooks.lan`, `127.0.0.1`, `10.0.0.0/8`.",
		read: into(func(c *Config) *[]string { return &c.Webhook.Allow }, places),
	},
}

var keys = slices.Concat(hubKeys, loadKeys, observeKeys)

// Keys are all things that can be set, in the order in which they are shown.
func Keys() []Key { return slices.Clone(keys) }
