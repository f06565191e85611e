-- +goose Up

-- Directory trees that are joined to the hub.
CREATE TABLE bridges (
	num          BIGINT NOT NULL PRIMARY KEY,
	id           TEXT COLLATE "C" NOT NULL UNIQUE,
	layout       TEXT NOT NULL,
	root         TEXT NOT NULL,
	agents       TEXT NOT NULL,     -- JSON: the ids of those who may speak through it
	channels     TEXT,              -- JSON
	queue_agent  TEXT,
	replay_since BIGINT,
	outside      BIGINT NOT NULL,
	paused       BIGINT NOT NULL,
	created_by   BIGINT NOT NULL REFERENCES agents (num),
	created_at   BIGINT NOT NULL,
	since        BIGINT NOT NULL,
	cursor       BIGINT NOT NULL        -- how far the order was read for what is to depart
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX bridges_root ON bridges (root, layout);

-- Files that have come from them. They outlive the messages that were made from them.
CREATE TABLE bridge_files (
	bridge  BIGINT NOT NULL REFERENCES bridges (num),
	path    TEXT COLLATE "C" NOT NULL,
	digest  TEXT COLLATE "C" NOT NULL, -- empty where a file never changes
	name    TEXT COLLATE "C" NOT NULL,            -- the document's own id
	sender  TEXT NOT NULL,
	message BYTEA,                     -- none: it was refused
	at      BIGINT NOT NULL,
	PRIMARY KEY (bridge, path, digest)
);

CREATE INDEX bridge_files_name ON bridge_files (bridge, name, at);
CREATE INDEX bridge_files_message ON bridge_files (message, bridge) WHERE message IS NOT NULL;

-- Messages on their way into them. Messages are named by their ids, which may be gone.
CREATE TABLE departures (
	num       BIGINT NOT NULL PRIMARY KEY,
	bridge    BIGINT NOT NULL REFERENCES bridges (num),
	message   BYTEA NOT NULL,
	recipient BIGINT NOT NULL,          -- 0: a channel
	folder    TEXT COLLATE "C" NOT NULL,
	name      TEXT COLLATE "C" NOT NULL,
	state     TEXT COLLATE "C" NOT NULL,
	at        BIGINT NOT NULL
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX departures_message ON departures (message, bridge, recipient);
CREATE UNIQUE INDEX departures_name ON departures (bridge, folder, name);
CREATE INDEX departures_byname ON departures (bridge, name);
CREATE INDEX departures_open ON departures (bridge, state, num) WHERE state IN ('due', 'written');

-- How far those who follow the order have come.
CREATE TABLE cursors (
	name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	num  BIGINT NOT NULL
);
