package config

import "time"

// observeKeys are those of what a hub says of itself.
var observeKeys = []Key{
	{
		Name: "log.messages.size", Type: "size or `off`", Default: "16MiB",
		Doc:  "The most that one file of the message log may have; `off` keeps none.",
		read: into(func(c *Config) *int64 { return &c.Log.Messages.Size }, sizeOrOff),
	},
	{
		Name: "log.messages.files", Type: "number", Default: "8",
		Doc:  "How many files of the message log are kept.",
		read: into(func(c *Config) *int { return &c.Log.Messages.Files }, upTo(1000)),
	},
	{
		Name: "alerts.write", Type: "duration or `off`", Default: "100ms",
		Doc:  "Alert when more than one message in twenty takes longer to be on disk.",
		read: into(func(c *Config) *time.Duration { return &c.Alerts.Write }, shortOrOff),
	},
	{
		Name: "alerts.read", Type: "duration or `off`", Default: "200ms",
		Doc:  "Alert when more than one read in twenty takes longer.",
		read: into(func(c *Config) *time.Duration { return &c.Alerts.Read }, shortOrOff),
	},
	{
		Name: "alerts.latency", Type: "duration or `off`", Default: "5s",
		Doc:  "Alert when more than one message in twenty waits longer until its agent has it before it.",
		read: into(func(c *Config) *time.Duration { return &c.Alerts.Latency }, shortOrOff),
	},
	{
		Name: "alerts.depth", Type: "per cent or `off`", Default: "80",
		Doc:  "Alert when the inbox of an agent is fuller.",
		read: into(func(c *Config) *float64 { return &c.Alerts.Depth }, percentOrOff),
	},
	{
		Name: "alerts.errors", Type: "per cent or `off`", Default: "1",
		Doc:  "Alert when more of the messages fail.",
		read: into(func(c *Config) *float64 { return &c.Alerts.Errors }, percentOrOff),
	},
	{
		Name: "alerts.after", Type: "duration", Default: "30s",
		Doc:  "For how long it must be so before an alert goes on.",
		read: into(func(c *Config) *time.Duration { return &c.Alerts.After }, durationWithin(0, day)),
	},
	{
		Name: "alerts.clear", Type: "duration", Default: "2m",
		Doc:  "For how long it must clearly not be so before it goes off.",
		read: into(func(c *Config) *time.Duration { return &c.Alerts.Clear }, durationWithin(0, day)),
	},
	{
		Name: "traces.endpoint", Type: "URL",
		Doc:  "Where traces go by OTLP over HTTP (`http://127.0.0.1:4318`). Without it, where `OTEL_EXPORTER_OTLP_ENDPOINT` says; without either, nowhere.",
		read: into(func(c *Config) *string { return &c.Traces.Endpoint }, webAddress), hide: hidePassword,
	},
	{
		Name: "traces.headers", Type: "list of name=value", isList: true,
		Doc:  "What is sent along with traces, like `Authorization=Bearer …`.",
		read: into(func(c *Config) *map[string]string { return &c.Traces.Headers }, headers), hide: hideAll,
	},
}
