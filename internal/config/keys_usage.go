package config

// usageKeys are the settings that limit how much of the hub one participant can use.
var usageKeys = []Key{
	{
		Name: "rate.reads.per_second", Type: "number", Default: "100",
		Doc:  "How many reads per second one agent may make; a search counts as ten reads. 0 means no limit.",
		read: setField(func(c *Config) *float64 { return &c.Reads.PerSecond }, perSecond),
	},
	{
		Name: "rate.reads.burst", Type: "number", Default: "400",
		Doc:  "How many reads an agent may make at once after an idle time.",
		read: setField(func(c *Config) *int { return &c.Reads.Burst }, upTo(1_000_000)),
	},
	concurrencyKey("calls.reads", "8", "reading calls one participant may make at once. Further calls wait up to two seconds for their turn",
		func(c *Config) *int { return &c.Calls.Reads }),
	concurrencyKey("calls.searches", "2", "searches, traces, threads, task lists and reads of notes one participant may request at once. Further calls wait as with `calls.reads`",
		func(c *Config) *int { return &c.Calls.Searches }),
	concurrencyKey("calls.changes", "16", "changes one participant may make at once. Further calls wait as with `calls.reads`",
		func(c *Config) *int { return &c.Calls.Changes }),
	concurrencyKey("calls.waits", "64", "calls of one participant may wait for a result at once: asks, and all calls with `wait`",
		func(c *Config) *int { return &c.Calls.Waits }),
	concurrencyKey("calls.streams", "32", "event streams one participant may have open at once",
		func(c *Config) *int { return &c.Calls.Streams }),
	concurrencyKey("calls.streams_total", "2048", "event streams all participants together may have open at once. Owners may open more",
		func(c *Config) *int { return &c.Calls.AllStreams }),
	concurrencyKey("calls.uploads", "4", "artifacts one participant may upload at once",
		func(c *Config) *int { return &c.Calls.Uploads }),
	concurrencyKey("calls.downloads", "8", "artifacts and exports one participant may download at once",
		func(c *Config) *int { return &c.Calls.Downloads }),
	{
		Name: "limits.stored", Type: "size or `off`", Default: "1GiB",
		Doc:  "The total size of the artifacts that one agent may store.",
		read: setField(func(c *Config) *int64 { return &c.Stored }, sizeOrOff),
	},
	{
		Name: "connections.total", Type: "number", Default: "4096",
		Doc:  "How many TCP connections the hub accepts. It accepts fewer if the system allows it only few open files.",
		read: setField(func(c *Config) *int { return &c.Connections.Total }, upTo(1_000_000)),
	},
	{
		Name: "connections.address", Type: "number", Default: "2048",
		Doc:  "The highest number of TCP connections that the hub accepts from one address.",
		read: setField(func(c *Config) *int { return &c.Connections.Address }, upTo(1_000_000)),
	},
}

// concurrencyKey returns a key that limits concurrent calls.
func concurrencyKey(name, otherwise, doc string, field func(*Config) *int) Key {
	return Key{
		Name: name, Type: "number", Default: otherwise, Doc: "How many " + doc + "; 0 means no limit.",
		read: setField(field, number(0, 1_000_000)),
	}
}
