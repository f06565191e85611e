-- +goose Up
ALTER TABLE agents ADD COLUMN sleeping_until BIGINT;

-- The newest heartbeat of the sender, of which older ones are not kept.
ALTER TABLE pairs ADD COLUMN heartbeat BIGINT;

-- What is open for each participant. Deliveries with a purpose do not count.
CREATE TABLE inboxes (
	agent   BIGINT NOT NULL PRIMARY KEY REFERENCES agents (num),
	waking  BIGINT NOT NULL,
	quiet   BIGINT NOT NULL,
	evicted BIGINT NOT NULL   -- so far
) WITH (fillfactor = 50);

DROP TABLE deliveries; -- no program has written to it yet

CREATE TABLE deliveries (
	message      BIGINT           NOT NULL REFERENCES messages (seq),
	agent        BIGINT           NOT NULL REFERENCES agents (num),
	state        TEXT COLLATE "C" NOT NULL,
	waking       BIGINT           NOT NULL,
	purpose      TEXT COLLATE "C" NOT NULL,
	rank         BIGINT           NOT NULL,   -- the priority; of an ask one more than any
	place        BIGINT           NOT NULL,   -- the message again: the order of queues, which only their indexes
	                                          -- have, so that whatever is thought to be in the table they are used
	pair_seq     BIGINT           NOT NULL,
	attempt      BIGINT           NOT NULL,
	accepted_at  BIGINT           NOT NULL,
	delivered_at BIGINT,
	seen_at      BIGINT,
	settled_at   BIGINT,
	answered_at  BIGINT,
	run          TEXT,
	answer       BYTEA,
	failure      TEXT,
	marks        BIGINT           NOT NULL,   -- 1: overdue, 2: late
	lease        BYTEA,                       -- who has it
	timer        BIGINT,                      -- on the lease clock: when the lease or the pause is over
	next_at      BIGINT,                      -- wall time: when something else is due
	PRIMARY KEY (message, agent)
) WITH (fillfactor = 80);

CREATE INDEX deliveries_ready ON deliveries (agent, waking, place) WHERE state = 'accepted' AND timer IS NULL;
CREATE INDEX deliveries_urgent ON deliveries (agent, rank DESC, place)
	WHERE state = 'accepted' AND timer IS NULL AND waking = 1;
CREATE INDEX deliveries_held ON deliveries (agent, place) WHERE timer IS NOT NULL OR state = 'delivered';
CREATE INDEX deliveries_lease ON deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX deliveries_timer ON deliveries (timer) WHERE timer IS NOT NULL;
CREATE INDEX deliveries_next ON deliveries (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_dead ON deliveries (message) WHERE state = 'dead';
