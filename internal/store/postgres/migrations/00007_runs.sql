-- +goose Up
ALTER TABLE agents ADD COLUMN control TEXT;         -- JSON: why it starts no runs
ALTER TABLE conversations ADD COLUMN answers TEXT;  -- who answers when several are woken

-- Invocations of runtimes.
CREATE TABLE runs (
	id            BYTEA  NOT NULL PRIMARY KEY,
	agent         BIGINT NOT NULL REFERENCES agents (num),
	conv          BIGINT REFERENCES conversations (num),  -- NULL: it is gone, and only the cost is left
	task          TEXT,
	runtime       TEXT   NOT NULL,
	state         TEXT COLLATE "C" NOT NULL,
	trace         TEXT   NOT NULL,
	attempt       BIGINT NOT NULL,
	hops          BIGINT NOT NULL,
	chain         BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	started_at    BIGINT,
	ended_at      BIGINT,
	deadline      BIGINT NOT NULL,
	session       TEXT,
	answer        BYTEA,
	failure       TEXT,
	cancel        TEXT,
	input_tokens  BIGINT NOT NULL,
	output_tokens BIGINT NOT NULL,
	cost          BIGINT NOT NULL,            -- in billionths of a US dollar
	node          TEXT,
	pid           BIGINT NOT NULL,
	pid_started   BIGINT NOT NULL,
	output        BIGINT NOT NULL DEFAULT 0   -- 1: its output is kept
) WITH (fillfactor = 80);

CREATE INDEX runs_agent ON runs (agent, id);
CREATE INDEX runs_conv ON runs (conv, id);
CREATE INDEX runs_room ON runs (agent, conv, id);
CREATE INDEX runs_spent ON runs (agent, created_at);
CREATE INDEX runs_live ON runs (agent, id) WHERE state IN ('starting', 'running', 'waiting') AND conv IS NOT NULL;
CREATE INDEX runs_session ON runs (agent, conv, id) WHERE session IS NOT NULL AND state = 'succeeded' AND task IS NULL;
CREATE INDEX runs_output ON runs (ended_at) WHERE output = 1;

-- The messages that woke a run, which are in its conversation.
CREATE TABLE run_triggers (
	message BIGINT NOT NULL REFERENCES messages (seq),
	agent   BIGINT NOT NULL,   -- the run's
	run     BYTEA  NOT NULL REFERENCES runs (id),
	id      BYTEA  NOT NULL,   -- the message's
	PRIMARY KEY (message, agent, run)
);

CREATE INDEX run_triggers_run ON run_triggers (run, message);

-- What a run has posted, and the digest of the call.
CREATE TABLE run_posts (
	run     BYTEA  NOT NULL REFERENCES runs (id),
	message BIGINT NOT NULL REFERENCES messages (seq),
	digest  TEXT   NOT NULL,
	PRIMARY KEY (run, message)
);

CREATE INDEX run_posts_message ON run_posts (message, run);

-- What runs have written, for whoever looks for the cause of a failure.
CREATE TABLE run_outputs (
	run    BYTEA NOT NULL PRIMARY KEY REFERENCES runs (id),
	output BYTEA NOT NULL
);

-- How often in a row two agents have woken each other in turn.
CREATE TABLE exchanges (
	low   BIGINT NOT NULL REFERENCES agents (num),
	high  BIGINT NOT NULL REFERENCES agents (num),
	last  BIGINT NOT NULL REFERENCES agents (num),  -- who was the last to wake the other
	conv  BIGINT REFERENCES conversations (num),  -- of the last one; NULL: it is gone
	count BIGINT NOT NULL,
	at    BIGINT NOT NULL,
	open  BIGINT NOT NULL,
	PRIMARY KEY (low, high)
) WITH (fillfactor = 80);

CREATE INDEX exchanges_conv ON exchanges (conv) WHERE conv IS NOT NULL;

-- What agents last said of themselves.
CREATE TABLE agent_health (
	agent   BIGINT NOT NULL PRIMARY KEY REFERENCES agents (num),
	health  TEXT   NOT NULL,
	metrics TEXT,
	uptime  BIGINT NOT NULL,   -- in milliseconds
	at      BIGINT NOT NULL
) WITH (fillfactor = 50);
