-- +goose Up
ALTER TABLE runs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;  -- how many asks it is nested in

-- Deliveries with a purpose: they take no room, but wait like others.
ALTER TABLE inboxes ADD COLUMN work INTEGER NOT NULL DEFAULT 0;
INSERT INTO inboxes (agent, waking, quiet, evicted, work)
	SELECT d.agent, 0, 0, 0, count(*) FROM deliveries d JOIN messages m ON m.seq = d.message JOIN conversations c ON c.num = m.conv
	WHERE c.buried <> 1 AND d.purpose <> '' AND (d.state IN ('accepted', 'delivered') OR d.state = 'seen' AND d.lease IS NOT NULL)
	GROUP BY d.agent
	ON CONFLICT (agent) DO UPDATE SET work = excluded.work;

CREATE INDEX runs_task ON runs (task, id) WHERE task IS NOT NULL;
CREATE INDEX deliveries_asked ON deliveries (agent)
	WHERE purpose = 'ask' AND (state IN ('accepted', 'delivered') OR state = 'seen' AND lease IS NOT NULL);

-- Who is blocked until a message is answered, and what has become of asks.
CREATE TABLE waits (
	id       BLOB    NOT NULL PRIMARY KEY,
	message  INTEGER NOT NULL REFERENCES messages (seq),
	waiter   INTEGER NOT NULL REFERENCES agents (num),
	target   INTEGER NOT NULL REFERENCES agents (num),
	ask      INTEGER NOT NULL,
	depth    INTEGER NOT NULL,
	since    INTEGER NOT NULL,
	conv     BLOB,               -- that was asked from
	task     INTEGER,
	run      BLOB,
	state    TEXT    NOT NULL,
	until    INTEGER NOT NULL,
	approval BLOB,
	answer   BLOB,
	failure  TEXT,
	callback BLOB,
	ended_at INTEGER,
	node     TEXT
) WITHOUT ROWID, STRICT;

CREATE INDEX waits_message ON waits (message);
CREATE UNIQUE INDEX waits_ask ON waits (message) WHERE ask = 1;
CREATE INDEX waits_run ON waits (run) WHERE state = 'waiting' AND run IS NOT NULL;
CREATE INDEX waits_waiter ON waits (waiter, id) WHERE state = 'waiting' AND run IS NULL;
CREATE INDEX waits_node ON waits (node) WHERE state = 'waiting' AND node IS NOT NULL;
CREATE INDEX waits_until ON waits (until) WHERE state = 'waiting' AND ask = 1;

-- Pieces of work. Conversations and messages are named by their ids, which may be gone.
CREATE TABLE tasks (
	num         INTEGER NOT NULL PRIMARY KEY,
	parent      INTEGER REFERENCES tasks (num),
	root        INTEGER NOT NULL REFERENCES tasks (num),
	depth       INTEGER NOT NULL,
	requester   INTEGER NOT NULL REFERENCES agents (num),
	original    INTEGER NOT NULL REFERENCES agents (num),  -- who asked for the root
	source      TEXT    NOT NULL,
	created_at  INTEGER NOT NULL,
	assignee    INTEGER NOT NULL REFERENCES agents (num),
	title       TEXT    NOT NULL,
	reason      TEXT,
	priority    INTEGER NOT NULL,
	word        TEXT,              -- the requester's word for the priority
	deadline    INTEGER,
	conv        BLOB,
	message     BLOB,              -- that began it
	trace       TEXT    NOT NULL,
	status      TEXT    NOT NULL,
	outcome     TEXT,
	result      TEXT,
	error       TEXT,
	progress    TEXT,
	attempt     INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	started_at  INTEGER,
	ended_at    INTEGER,
	callback_to BLOB,              -- the conversation in which the requester is told of the end
	callback    BLOB               -- the message that has told it
) STRICT;

CREATE INDEX tasks_parent ON tasks (parent, num) WHERE parent IS NOT NULL;
CREATE INDEX tasks_requester ON tasks (requester, num);
CREATE INDEX tasks_assignee ON tasks (assignee, num);
CREATE INDEX tasks_message ON tasks (message) WHERE message IS NOT NULL;
CREATE INDEX tasks_callback ON tasks (callback) WHERE callback IS NOT NULL;
CREATE INDEX tasks_open ON tasks (root) WHERE status IN ('queued', 'active');
CREATE INDEX tasks_assigned ON tasks (assignee, num) WHERE status IN ('queued', 'active');
CREATE INDEX tasks_awaited ON tasks (requester, num) WHERE status IN ('queued', 'active') AND callback_to IS NOT NULL;
CREATE INDEX tasks_due ON tasks (deadline) WHERE status IN ('queued', 'active') AND deadline IS NOT NULL;

-- What must be completed before a task begins.
CREATE TABLE task_needs (
	task  INTEGER NOT NULL REFERENCES tasks (num),
	needs INTEGER NOT NULL REFERENCES tasks (num),
	PRIMARY KEY (task, needs)
) WITHOUT ROWID, STRICT;

CREATE INDEX task_needs_needs ON task_needs (needs, task);

-- Who may contact whom.
CREATE TABLE permissions (
	agent      INTEGER NOT NULL REFERENCES agents (num),
	target     INTEGER NOT NULL,   -- 0: anyone
	effect     TEXT    NOT NULL,
	approval   INTEGER NOT NULL,   -- 1: each contact needs one
	human      INTEGER NOT NULL,   -- 1: which only a person may give
	created_by INTEGER NOT NULL REFERENCES agents (num),
	created_at INTEGER NOT NULL,
	PRIMARY KEY (agent, target, effect)
) WITHOUT ROWID, STRICT;

-- Calls that need somebody's yes. Conversations and messages are named by their ids, which may be gone.
CREATE TABLE approvals (
	id          BLOB    NOT NULL PRIMARY KEY,
	agent       INTEGER NOT NULL REFERENCES agents (num),
	target      INTEGER REFERENCES agents (num),
	tool        TEXT    NOT NULL,
	args        TEXT    NOT NULL,
	digest      TEXT    NOT NULL,
	summary     TEXT    NOT NULL,
	rule        TEXT    NOT NULL,
	human       INTEGER NOT NULL,   -- 1: only a person may decide
	created_at  INTEGER NOT NULL,
	run         BLOB,
	conv        BLOB,
	task        INTEGER,
	woken_by    BLOB,               -- the message that had woken the run
	trace       TEXT    NOT NULL,
	hops        INTEGER NOT NULL,
	source      TEXT    NOT NULL,
	state       TEXT    NOT NULL,
	decider     INTEGER REFERENCES agents (num),
	expires_at  INTEGER,
	remind_at   INTEGER,
	next_at     INTEGER,            -- the earlier of the two
	decided_by  INTEGER REFERENCES agents (num),
	decided_at  INTEGER,
	note        TEXT,
	executed_at INTEGER,
	result      TEXT,
	failure     TEXT,
	outcome     BLOB                -- the message that told the caller
) WITHOUT ROWID, STRICT;

-- One request at a time for one call from one place.
CREATE UNIQUE INDEX approvals_pending ON approvals (agent, digest, coalesce(task, 0), coalesce(conv, x''))
	WHERE state = 'pending';
CREATE INDEX approvals_agent ON approvals (agent, id);
CREATE INDEX approvals_decider ON approvals (decider, id) WHERE decider IS NOT NULL;
CREATE INDEX approvals_trace ON approvals (trace);
CREATE INDEX approvals_woken_by ON approvals (woken_by) WHERE woken_by IS NOT NULL;
CREATE INDEX approvals_outcome ON approvals (outcome) WHERE outcome IS NOT NULL;
CREATE INDEX approvals_open ON approvals (agent, id) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_task ON approvals (task, id) WHERE state IN ('pending', 'approved') AND task IS NOT NULL;
CREATE INDEX approvals_undecided ON approvals (id) WHERE state = 'pending';
CREATE INDEX approvals_due ON approvals (next_at) WHERE state = 'pending' AND next_at IS NOT NULL;

-- What people are to be told outside of the hub.
CREATE TABLE notices (
	id         BLOB    NOT NULL PRIMARY KEY,
	person     INTEGER NOT NULL REFERENCES agents (num),
	key        TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	approval   BLOB,
	created_at INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	next_at    INTEGER NOT NULL,
	sent       TEXT,               -- JSON: the notifiers that have told it
	failure    TEXT,
	done       INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX notices_key ON notices (person, key);
CREATE INDEX notices_approval ON notices (approval) WHERE approval IS NOT NULL;
CREATE INDEX notices_due ON notices (next_at) WHERE done = 0;
CREATE INDEX notices_done ON notices (created_at) WHERE done = 1;
