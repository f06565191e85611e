package config

import (
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Key is one setting.
type Key struct {
	Name    string
	Type    string // description of the values, for people
	Default string
	Doc     string

	read   func(c *Config, text string) error
	hide   func(text string) string // returns the part of a secret that may be shown
	isList bool
}

// Variable returns the name of the environment variable that sets the key.
func (k Key) Variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Flag returns the name of the flag that sets the key, without dashes.
func (k Key) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.Name) }

// Secret reports whether the value may have a password.
func (k Key) Secret() bool { return k.hide != nil }

// hubKeys are the settings of what a hub does.
var hubKeys = []Key{
	{
		Name: "addr", Type: "host:port", Default: "127.0.0.1:7717",
		Doc:  "The address where the hub listens for HTTP. With port 0, the hub takes any free port.",
		read: setField(func(c *Config) *string { return &c.Addr }, address),
	},
	{
		Name: "store", Type: "`sqlite` or a URL", Default: "sqlite",
		Doc:  "Where the hub stores everything: in its home (`sqlite`), or in a PostgreSQL database (`postgres://user:password@host/database`). Set it in config.yaml: doctor, backup and restore need it too.",
		read: setField(func(c *Config) *string { return &c.Store }, storeAddress), hide: hidePassword,
	},
	{
		Name: "owner_auth", Type: "`socket` or `token`", Default: "socket",
		Doc:  "How the hub recognizes the local owner: by the unix socket, or only by a token.",
		read: setField(func(c *Config) *string { return &c.OwnerAuth }, oneOf("socket", "token")),
	},
	{
		Name: "clients", Type: "list of names", isList: true,
		Doc:  "Names of further programs that are agent clients, besides those with a preset. After such a program has connected as an agent, the commands that it starts act as that agent (see [security.md](security.md#the-shell-of-a-connected-client)).",
		read: setField(func(c *Config) *[]string { return &c.Clients }, programNames),
	},
	{
		Name: "hosts", Type: "list of names", isList: true,
		Doc:  "Further host names under which browsers and programs may reach the hub.",
		read: setField(func(c *Config) *[]string { return &c.Hosts }, hostNames),
	},
	{
		Name: "public_url", Type: "URL",
		Doc:  "The address under which people reach the hub in a browser (`https://parley.example.org`). Links in notifications begin with it. Without it, they begin with the address where the hub listens.",
		read: setField(func(c *Config) *string { return &c.PublicURL }, origin),
	},
	{
		Name: "nats.url", Type: "URL, or several with commas",
		Doc:  "The NATS server, with JetStream, to which the hub publishes every message (`nats://host:4222`, `tls://host:4222`); see [nats.md](nats.md). Without it, the hub publishes nothing.",
		read: setField(func(c *Config) *string { return &c.NATS.URL }, natsAddress), hide: hideUsers,
	},
	{
		Name: "nats.hub", Type: "name", Default: "local",
		Doc:  "The hub's name in NATS subjects and in the name of its stream: `parley.<hub>.…`, `PARLEY_<hub>`. No other hub on that server may have this name.",
		read: setField(func(c *Config) *string { return &c.NATS.Hub }, natsName),
	},
	{
		Name: "nats.nkey", Type: "path",
		Doc:  "The file with the hub's private NKey. No other user may be able to read it. A relative path begins at the home, as in the other `nats.*` keys for files.",
		read: setField(func(c *Config) *string { return &c.NATS.NKey }, anyText),
	},
	{
		Name: "nats.creds", Type: "path",
		Doc:  "The file with the hub's NATS credentials. No other user may be able to read it.",
		read: setField(func(c *Config) *string { return &c.NATS.Creds }, anyText),
	},
	{
		Name: "nats.tls.ca", Type: "path",
		Doc:  "The file with the certificates that identify the NATS server. Without it, the hub trusts the certificates of the system.",
		read: setField(func(c *Config) *string { return &c.NATS.CA }, anyText),
	},
	{
		Name: "nats.tls.cert", Type: "path",
		Doc:  "The file with the hub's own certificate, if the NATS server asks for one.",
		read: setField(func(c *Config) *string { return &c.NATS.Cert }, anyText),
	},
	{
		Name: "nats.tls.key", Type: "path",
		Doc:  "The file with the private key of the hub's certificate. No other user may be able to read it.",
		read: setField(func(c *Config) *string { return &c.NATS.Key }, anyText),
	},
	{
		Name: "nats.stream.age", Type: "duration or `off`", Default: "7d",
		Doc:  "How long the stream keeps published messages.",
		read: setField(func(c *Config) *time.Duration { return &c.NATS.Age }, durationOrOff),
	},
	{
		Name: "nats.stream.size", Type: "size or `off`", Default: "1GiB",
		Doc:  "How much data the stream keeps. Beyond this size, the stream removes the oldest messages first.",
		read: setField(func(c *Config) *int64 { return &c.NATS.Bytes }, sizeOrOff),
	},
	{
		Name: "log.level", Type: "`debug`, `info`, `warn` or `error`", Default: "info",
		Doc:  "The hub logs lines of this level and above.",
		read: setField(func(c *Config) *string { return &c.Log.Level }, oneOf("debug", "info", "warn", "error")),
	},
	{
		Name: "log.format", Type: "`auto`, `text` or `json`", Default: "auto",
		Doc:  "The format of log lines; `auto` is text on a terminal and JSON elsewhere.",
		read: setField(func(c *Config) *string { return &c.Log.Format }, oneOf("auto", "text", "json")),
	},
	{
		Name: "limits.body", Type: "size", Default: "256KiB",
		Doc:  "The largest size of a message: its text, code and payload together.",
		read: setField(func(c *Config) *int { return &c.Limits.Body }, sizeWithin[int](1, 64<<20)),
	},
	{
		Name: "limits.artifact", Type: "size", Default: "64MiB",
		Doc:  "The largest size of one artifact.",
		read: setField(func(c *Config) *int64 { return &c.Limits.Artifact }, sizeWithin[int64](1, 1<<40)),
	},
	{
		Name: "limits.depth", Type: "number", Default: "32",
		Doc:  "The deepest nesting of JSON in a message.",
		read: setField(func(c *Config) *int { return &c.Limits.Depth }, upTo(1000)),
	},
	{
		Name: "limits.mentions", Type: "number", Default: "64",
		Doc:  "How many participants one message may mention.",
		read: setField(func(c *Config) *int { return &c.Limits.Mentions }, upTo(1000)),
	},
	{
		Name: "rate.per_second", Type: "number", Default: "50",
		Doc:  "How many changes per second one agent may make; 0 means no limit.",
		read: setField(func(c *Config) *float64 { return &c.Rate.PerSecond }, perSecond),
	},
	{
		Name: "rate.burst", Type: "number", Default: "200",
		Doc:  "How many changes an agent may make at once after an idle time.",
		read: setField(func(c *Config) *int { return &c.Rate.Burst }, upTo(1_000_000)),
	},
	{
		Name: "auto_archive", Type: "duration or `off`", Default: off,
		Doc:  "The hub archives conversations that have been idle for this long.",
		read: setField(func(c *Config) *time.Duration { return &c.AutoArchive }, durationOrOff),
	},
	{
		Name: "retention.messages.age", Type: "duration or `off`", Default: off,
		Doc:  "The hub erases messages that are older than this.",
		read: setField(func(c *Config) *time.Duration { return &c.Retention.Messages.Age }, durationOrOff),
	},
	{
		Name: "retention.messages.size", Type: "size or `off`", Default: off,
		Doc:  "The hub erases the oldest messages while all message bodies together are larger than this.",
		read: setField(func(c *Config) *int64 { return &c.Retention.Messages.Bytes }, sizeOrOff),
	},
	{
		Name: "retention.artifacts.age", Type: "duration or `off`", Default: off,
		Doc:  "The hub removes the bodies of artifacts that are older than this.",
		read: setField(func(c *Config) *time.Duration { return &c.Retention.Artifacts.Age }, durationOrOff),
	},
	{
		Name: "retention.artifacts.size", Type: "size or `off`", Default: off,
		Doc:  "The hub removes the oldest bodies of artifacts while all together are larger than this.",
		read: setField(func(c *Config) *int64 { return &c.Retention.Artifacts.Bytes }, sizeOrOff),
	},
	{
		Name: "retention.events", Type: "duration or `off`", Default: "7d",
		Doc:  "How long the hub keeps events. A stream can resume from any event that is kept. `off` keeps events for ever.",
		read: setField(func(c *Config) *time.Duration { return &c.Retention.Events }, durationOrOff),
	},
	{
		Name: "retention.runs.age", Type: "duration or `off`", Default: off,
		Doc:  "The hub erases the output of runs that ended longer ago than this.",
		read: setField(func(c *Config) *time.Duration { return &c.Retention.Runs }, durationOrOff),
	},
	{
		Name: "runs.total", Type: "number", Default: "64",
		Doc:  "How many runs of all agents together may exist at once.",
		read: setField(func(c *Config) *int { return &c.Runs.Total }, upTo(10_000)),
	},
	{
		Name: "runs.deadline", Type: "duration", Default: "30m",
		Doc:  "How long a run may last, unless the `runtime_config` of its agent sets another time.",
		read: setField(func(c *Config) *time.Duration { return &c.Runs.Deadline }, durationWithin(time.Second, 7*day)),
	},
	{
		Name: "runs.grace", Type: "duration", Default: "10s",
		Doc:  "How long the hub waits for runs to end before it stops, and for a program to end before it kills the program.",
		read: setField(func(c *Config) *time.Duration { return &c.Runs.Grace }, durationWithin(0, time.Hour)),
	},
	{
		Name: "runs.output", Type: "size", Default: "8MiB",
		Doc:  "How much output one run may write.",
		read: setField(func(c *Config) *int64 { return &c.Runs.Output }, sizeWithin[int64](64<<10, 1<<30)),
	},
	{
		Name: "runs.dirs", Type: "list of directories", Default: "~", isList: true,
		Doc:  "The directories in which the programs of agents may work (`runtime_config.dir`), and everything below them. The hub's home, and directories that contain it, are never allowed. `~` is the home directory of the hub's user.",
		read: setField(func(c *Config) *[]string { return &c.Runs.Dirs }, directories),
	},
	{
		Name: "runs.env", Type: "list of variables", isList: true,
		Doc:  "The variables of the hub's environment that `runtime_config.env` of an agent may name, besides those that a runtime passes to its program. `AWS_*` stands for all names that begin with `AWS_`.",
		read: setField(func(c *Config) *[]string { return &c.Runs.Env }, variables),
	},
	{
		Name: "loops.exchanges", Type: "number", Default: "8",
		Doc:  "How many times in a row two agents, or a chain of agents, may wake each other before the hub stops them.",
		read: setField(func(c *Config) *int { return &c.Loops.Exchanges }, upTo(1000)),
	},
	{
		Name: "loops.quiet", Type: "duration", Default: "10m",
		Doc:  "How long agents that the hub has stopped in a loop must be quiet before the hub lets them continue.",
		read: setField(func(c *Config) *time.Duration { return &c.Loops.Quiet }, durationWithin(time.Second, 30*day)),
	},
	{
		Name: "loops.hops", Type: "number", Default: "32",
		Doc:  "How many messages a chain between agents may have without a message from a person.",
		read: setField(func(c *Config) *int { return &c.Loops.Hops }, upTo(1000)),
	},
	{
		Name: "ask.wait", Type: "duration", Default: "2m",
		Doc:  "How long an ask waits for its answer. The hub delivers a later answer to the asker as a message.",
		read: setField(func(c *Config) *time.Duration { return &c.Ask.Wait }, durationWithin(time.Second, day)),
	},
	{
		Name: "ask.slots", Type: "number", Default: "16",
		Doc:  "How many asks to one agent may be open at once. A run of its own answers each ask.",
		read: setField(func(c *Config) *int { return &c.Ask.Slots }, upTo(1000)),
	},
	{
		Name: "ask.depth", Type: "number", Default: "3",
		Doc:  "How deep asks may be nested in each other.",
		read: setField(func(c *Config) *int { return &c.Ask.Depth }, upTo(100)),
	},
	{
		Name: "tiers", Type: "list of pairs", Default: "command-command,command-pm,pm-worker", isList: true,
		Doc:  "The pairs of tiers that may contact each other, in both directions. Other pairs may not.",
		read: setField(func(c *Config) *parley.Tiers { return &c.Tiers }, tierPairs),
	},
	{
		Name: "approvals.expire", Type: "duration or `off`", Default: off,
		Doc:  "After how long an approval expires if nobody has decided.",
		read: setField(func(c *Config) *time.Duration { return &c.Approvals.Expire }, durationOrOff),
	},
	{
		Name: "approvals.remind", Type: "duration or `off`", Default: "1h",
		Doc:  "After how long the hub reminds the approvers for the first time. Each further reminder comes when the approval is twice as old; the pause is at most a day.",
		read: setField(func(c *Config) *time.Duration { return &c.Approvals.Remind }, durationOrOff),
	},
	{
		Name: "webhook.allow", Type: "list of hosts, addresses and networks", isList: true,
		Doc:  "Hosts, addresses and networks that the hub may call for webhooks although they are not public: `hooks.lan`, `127.0.0.1`, `10.0.0.0/8`.",
		read: setField(func(c *Config) *[]string { return &c.Webhook.Allow }, networkPlaces),
	},
}

var allKeys = slices.Concat(hubKeys, usageKeys, observeKeys)

// Keys returns all settings, in the order in which they are shown.
func Keys() []Key { return slices.Clone(allKeys) }
