-- +goose Up

-- Directory trees that are joined to the hub.
CREATE TABLE bridges (
	num          INTEGER NOT NULL PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	layout       TEXT NOT NULL,
	root         TEXT NOT NULL,
	agents       TEXT NOT NULL,     -- JSON: the ids of those who may speak through it
	channels     TEXT,              -- JSON
	queue_agent  TEXT,
	replay_since INTEGER,
	outside      INTEGER NOT NULL,
	paused       INTEGER NOT NULL,
	created_by   INTEGER NOT NULL REFERENCES agents (num),
	created_at   INTEGER NOT NULL,
	since        INTEGER NOT NULL,
	cursor       INTEGER NOT NULL        -- how far the order was read for what is to depart
) STRICT;

CREATE UNIQUE INDEX bridges_root ON bridges (root, layout);

-- Files that have come from them. They outlive the messages that were made from them.
CREATE TABLE bridge_files (
	bridge  INTEGER NOT NULL REFERENCES bridges (num),
	path    TEXT NOT NULL,
	digest  TEXT NOT NULL, -- empty where a file never changes
	name    TEXT NOT NULL,            -- the document's own id
	sender  TEXT NOT NULL,
	message BLOB,                     -- none: it was refused
	at      INTEGER NOT NULL,
	PRIMARY KEY (bridge, path, digest)
) WITHOUT ROWID, STRICT;

CREATE INDEX bridge_files_name ON bridge_files (bridge, name, at);
CREATE INDEX bridge_files_message ON bridge_files (message) WHERE message IS NOT NULL;

-- Messages on their way into them. Messages are named by their ids, which may be gone.
CREATE TABLE departures (
	num       INTEGER NOT NULL PRIMARY KEY,
	bridge    INTEGER NOT NULL REFERENCES bridges (num),
	message   BLOB NOT NULL,
	recipient INTEGER NOT NULL,          -- 0: a channel
	folder    TEXT NOT NULL,
	name      TEXT NOT NULL,
	state     TEXT NOT NULL,
	at        INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX departures_message ON departures (message, bridge, recipient);
CREATE UNIQUE INDEX departures_name ON departures (bridge, folder, name);
CREATE INDEX departures_byname ON departures (bridge, name);
CREATE INDEX departures_open ON departures (bridge, state, num) WHERE state IN ('due', 'written');

-- How far those who follow the order have come.
CREATE TABLE cursors (
	name TEXT NOT NULL PRIMARY KEY,
	num  INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
