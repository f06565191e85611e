-- +goose Up
ALTER TABLE agents ADD COLUMN control TEXT;         -- JSON: why it starts no runs
ALTER TABLE conversations ADD COLUMN answers TEXT;  -- who answers when several are woken

-- Invocations of runtimes.
CREATE TABLE runs (
	id            BLOB    NOT NULL PRIMARY KEY,
	agent         INTEGER NOT NULL REFERENCES agents (num),
	conv          INTEGER REFERENCES conversations (num),  -- NULL: it is gone, and only the cost is left
	task          TEXT,
	runtime       TEXT    NOT NULL,
	state         TEXT    NOT NULL,
	trace         TEXT    NOT NULL,
	attempt       INTEGER NOT NULL,
	hops          INTEGER NOT NULL,
	chain         INTEGER NOT NULL,
	created_at    INTEGER NOT NULL,
	started_at    INTEGER,
	ended_at      INTEGER,
	deadline      INTEGER NOT NULL,
	session       TEXT,
	answer        BLOB,
	failure       TEXT,
	cancel        TEXT,
	input_tokens  INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	cost          INTEGER NOT NULL,            -- in billionths of a US dollar
	node          TEXT,
	pid           INTEGER NOT NULL,
	pid_started   INTEGER NOT NULL,
	output        INTEGER NOT NULL DEFAULT 0   -- 1: its output is kept
) WITHOUT ROWID, STRICT;

CREATE INDEX runs_agent ON runs (agent, id);
CREATE INDEX runs_conv ON runs (conv, id);
CREATE INDEX runs_room ON runs (agent, conv, id);
CREATE INDEX runs_spent ON runs (agent, created_at);
CREATE INDEX runs_live ON runs (agent, id) WHERE state IN ('starting', 'running', 'waiting') AND conv IS NOT NULL;
CREATE INDEX runs_session ON runs (agent, conv, id) WHERE session IS NOT NULL AND state = 'succeeded' AND task IS NULL;
CREATE INDEX runs_output ON runs (ended_at) WHERE output = 1;

-- The messages that woke a run, which are in its conversation.
CREATE TABLE run_triggers (
	message INTEGER NOT NULL REFERENCES messages (seq),
	agent   INTEGER NOT NULL,   -- the run's
	run     BLOB    NOT NULL REFERENCES runs (id),
	id      BLOB    NOT NULL,   -- the message's
	PRIMARY KEY (message, agent, run)
) WITHOUT ROWID, STRICT;

CREATE INDEX run_triggers_run ON run_triggers (run, message);

-- What a run has posted, and the digest of the call.
CREATE TABLE run_posts (
	run     BLOB    NOT NULL REFERENCES runs (id),
	message INTEGER NOT NULL REFERENCES messages (seq),
	digest  TEXT    NOT NULL,
	PRIMARY KEY (run, message)
) WITHOUT ROWID, STRICT;

CREATE INDEX run_posts_message ON run_posts (message, run);

-- What runs have written, for whoever looks for the cause of a failure.
CREATE TABLE run_outputs (
	run    BLOB NOT NULL PRIMARY KEY REFERENCES runs (id),
	output BLOB NOT NULL
) STRICT;

-- How often in a row two agents have woken each other in turn.
CREATE TABLE exchanges (
	low   INTEGER NOT NULL REFERENCES agents (num),
	high  INTEGER NOT NULL REFERENCES agents (num),
	last  INTEGER NOT NULL REFERENCES agents (num),  -- who was the last to wake the other
	conv  INTEGER REFERENCES conversations (num),  -- of the last one; NULL: it is gone
	count INTEGER NOT NULL,
	at    INTEGER NOT NULL,
	open  INTEGER NOT NULL,
	PRIMARY KEY (low, high)
) WITHOUT ROWID, STRICT;

CREATE INDEX exchanges_conv ON exchanges (conv) WHERE conv IS NOT NULL;

-- What agents last said of themselves.
CREATE TABLE agent_health (
	agent   INTEGER NOT NULL PRIMARY KEY REFERENCES agents (num),
	health  TEXT    NOT NULL,
	metrics TEXT,
	uptime  INTEGER NOT NULL,   -- in milliseconds
	at      INTEGER NOT NULL
) STRICT;
