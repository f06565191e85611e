-- +goose Up
ALTER TABLE agents ADD COLUMN sleeping_until INTEGER;

-- The newest heartbeat of the sender, of which older ones are not kept.
ALTER TABLE pairs ADD COLUMN heartbeat INTEGER;

-- What is open for each participant. Deliveries with a purpose do not count.
CREATE TABLE inboxes (
	agent   INTEGER NOT NULL PRIMARY KEY REFERENCES agents (num),
	waking  INTEGER NOT NULL,
	quiet   INTEGER NOT NULL,
	evicted INTEGER NOT NULL   -- so far
) STRICT;

INSERT INTO inboxes (agent, waking, quiet, evicted)
	SELECT agent, sum(waking), sum(1 - waking), 0 FROM deliveries GROUP BY agent;

CREATE TABLE deliveries_2 (
	message      INTEGER NOT NULL REFERENCES messages (seq),
	agent        INTEGER NOT NULL REFERENCES agents (num),
	state        TEXT    NOT NULL,
	waking       INTEGER NOT NULL,
	purpose      TEXT    NOT NULL,
	rank         INTEGER NOT NULL,   -- the priority; of an ask one more than any
	place        INTEGER NOT NULL,   -- the message again: the order of queues, which only their indexes have
	pair_seq     INTEGER NOT NULL,
	attempt      INTEGER NOT NULL,
	accepted_at  INTEGER NOT NULL,
	delivered_at INTEGER,
	seen_at      INTEGER,
	settled_at   INTEGER,
	answered_at  INTEGER,
	run          TEXT,
	answer       BLOB,
	failure      TEXT,
	marks        INTEGER NOT NULL,   -- 1: overdue, 2: late
	lease        BLOB,               -- who has it
	timer        INTEGER,            -- on the lease clock: when the lease or the pause is over
	next_at      INTEGER,            -- wall time: when something else is due
	PRIMARY KEY (message, agent)
) WITHOUT ROWID, STRICT;

INSERT INTO deliveries_2 (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, next_at)
	SELECT d.message, d.agent, d.state, d.waking, '', m.priority, d.message, d.pair_seq, d.attempt, d.accepted_at, 0, d.accepted_at
	FROM deliveries d JOIN messages m ON m.seq = d.message;

DROP TABLE deliveries;
ALTER TABLE deliveries_2 RENAME TO deliveries;

CREATE INDEX deliveries_ready ON deliveries (agent, waking, place) WHERE state = 'accepted' AND timer IS NULL;
CREATE INDEX deliveries_urgent ON deliveries (agent, rank DESC, place)
	WHERE state = 'accepted' AND timer IS NULL AND waking = 1;
CREATE INDEX deliveries_held ON deliveries (agent, place) WHERE timer IS NOT NULL OR state = 'delivered';
CREATE INDEX deliveries_lease ON deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX deliveries_timer ON deliveries (timer) WHERE timer IS NOT NULL;
CREATE INDEX deliveries_next ON deliveries (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_dead ON deliveries (message) WHERE state = 'dead';
