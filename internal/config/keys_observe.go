package config

import "time"

// observeKeys are the settings of logs, alerts and traces.
var observeKeys = []Key{
	{
		Name: "log.messages.size", Type: "size or `off`", Default: "16MiB",
		Doc:  "The largest size of one file of the message log; `off` switches the log off.",
		read: setField(func(c *Config) *int64 { return &c.Log.Messages.Size }, sizeOrOff),
	},
	{
		Name: "log.messages.files", Type: "number", Default: "8",
		Doc:  "How many files of the message log the hub keeps.",
		read: setField(func(c *Config) *int { return &c.Log.Messages.Files }, upTo(1000)),
	},
	{
		Name: "alerts.write", Type: "duration or `off`", Default: "100ms",
		Doc:  "The hub raises an alert when more than one message in twenty takes longer than this to reach the disk.",
		read: setField(func(c *Config) *time.Duration { return &c.Alerts.Write }, shortOrOff),
	},
	{
		Name: "alerts.read", Type: "duration or `off`", Default: "200ms",
		Doc:  "The hub raises an alert when more than one read in twenty takes longer than this.",
		read: setField(func(c *Config) *time.Duration { return &c.Alerts.Read }, shortOrOff),
	},
	{
		Name: "alerts.latency", Type: "duration or `off`", Default: "5s",
		Doc:  "The hub raises an alert when more than one message in twenty takes longer than this until its agent has it.",
		read: setField(func(c *Config) *time.Duration { return &c.Alerts.Latency }, shortOrOff),
	},
	{
		Name: "alerts.depth", Type: "per cent or `off`", Default: "80",
		Doc:  "The hub raises an alert when the inbox of an agent is fuller than this.",
		read: setField(func(c *Config) *float64 { return &c.Alerts.Depth }, percentOrOff),
	},
	{
		Name: "alerts.errors", Type: "per cent or `off`", Default: "1",
		Doc:  "The hub raises an alert when more than this share of messages fails.",
		read: setField(func(c *Config) *float64 { return &c.Alerts.Errors }, percentOrOff),
	},
	{
		Name: "alerts.after", Type: "duration", Default: "30s",
		Doc:  "How long a condition must hold before the hub raises its alert.",
		read: setField(func(c *Config) *time.Duration { return &c.Alerts.After }, durationWithin(0, day)),
	},
	{
		Name: "alerts.clear", Type: "duration", Default: "2m",
		Doc:  "How long a condition must clearly not hold before the hub clears its alert.",
		read: setField(func(c *Config) *time.Duration { return &c.Alerts.Clear }, durationWithin(0, day)),
	},
	{
		Name: "traces.endpoint", Type: "URL",
		Doc:  "The address to which the hub sends traces by OTLP over HTTP (`http://127.0.0.1:4318`). Without it, `OTEL_EXPORTER_OTLP_ENDPOINT` gives the address; without either, the hub sends no traces.",
		read: setField(func(c *Config) *string { return &c.Traces.Endpoint }, webAddress), hide: hidePassword,
	},
	{
		Name: "traces.headers", Type: "list of name=value", isList: true,
		Doc:  "HTTP headers that the hub sends with traces, like `Authorization=Bearer …`.",
		read: setField(func(c *Config) *map[string]string { return &c.Traces.Headers }, headers), hide: hideAll,
	},
}
