-- +goose Up
CREATE TABLE meta (
	key   TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID, STRICT;

-- The oldest program that may use this database.
INSERT INTO meta (key, value) VALUES ('min_program', '0.1.0');

-- One row. The number drawn last is the largest of seq here, messages.seq and events.num: it is
-- written here only when rows are erased. agents rises with every change to an agent, repairs after
-- every commit that failed.
CREATE TABLE counters (
	seq     INTEGER NOT NULL,
	agents  INTEGER NOT NULL,
	repairs INTEGER NOT NULL
) STRICT;

INSERT INTO counters (seq, agents, repairs) VALUES (0, 0, 0);

CREATE TABLE agents (
	num        INTEGER NOT NULL PRIMARY KEY,
	id         TEXT    NOT NULL,
	uuid       TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	access     TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	removed_at INTEGER,
	profile    TEXT    NOT NULL
) STRICT;

-- Everything an agent can be called by: id, uuid and display name, folded.
CREATE TABLE names (
	folded TEXT    NOT NULL PRIMARY KEY,
	agent  INTEGER NOT NULL REFERENCES agents (num)
) WITHOUT ROWID, STRICT;

CREATE INDEX names_agent ON names (agent);

CREATE TABLE conversations (
	num         INTEGER NOT NULL PRIMARY KEY,
	id          BLOB    NOT NULL,
	name        TEXT,
	kind        TEXT    NOT NULL,
	visibility  TEXT    NOT NULL,
	topic       TEXT    NOT NULL,
	created_by  INTEGER NOT NULL REFERENCES agents (num),
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	archived_at INTEGER,
	messages    INTEGER NOT NULL,
	last_seq    INTEGER NOT NULL,
	members     TEXT,              -- the set of those whose members are fixed
	buried      INTEGER NOT NULL   -- deleted, its rows still being erased
) STRICT;

CREATE UNIQUE INDEX conversations_id ON conversations (id);
CREATE UNIQUE INDEX conversations_name ON conversations (name) WHERE name IS NOT NULL;
CREATE UNIQUE INDEX conversations_members ON conversations (members) WHERE kind IN ('dm', 'group');
-- Ephemeral conversations pile up; lists and sweeps only look at those that are not archived.
CREATE INDEX conversations_open ON conversations (kind) WHERE archived_at IS NULL;
CREATE INDEX conversations_buried ON conversations (num) WHERE buried = 1;

CREATE TABLE participants (
	conv      INTEGER NOT NULL REFERENCES conversations (num),
	agent     INTEGER NOT NULL REFERENCES agents (num),
	joined_at INTEGER NOT NULL,
	read_seq  INTEGER NOT NULL,
	PRIMARY KEY (conv, agent)
) WITHOUT ROWID, STRICT;

CREATE INDEX participants_agent ON participants (agent, conv);

CREATE TABLE messages (
	seq          INTEGER NOT NULL PRIMARY KEY,
	id           BLOB    NOT NULL,
	conv         INTEGER NOT NULL REFERENCES conversations (num),
	sender       INTEGER NOT NULL REFERENCES agents (num),
	recipient    INTEGER,          -- NULL: the conversation, 0: all
	reply_to     BLOB,
	type         TEXT    NOT NULL,
	priority     INTEGER NOT NULL,
	word         TEXT,             -- the sender's word for the priority
	created_at   INTEGER NOT NULL,
	expires_at   INTEGER,
	deadline     INTEGER,
	requires_ack INTEGER NOT NULL,
	hops         INTEGER NOT NULL,
	source       TEXT    NOT NULL,
	trace        TEXT,             -- NULL: the message's own id
	task         TEXT,
	mentions     TEXT,             -- ids with commas between them
	text         TEXT    NOT NULL,
	code         TEXT,
	artifacts    TEXT,
	payload      TEXT,
	metadata     TEXT,
	key          TEXT,             -- idempotency key
	checksum     BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX messages_id ON messages (id);
-- The sender is there so that unread messages are counted without reading their rows.
CREATE INDEX messages_conv ON messages (conv, seq, sender);
CREATE INDEX messages_reply ON messages (reply_to) WHERE reply_to IS NOT NULL;

CREATE TABLE idempotency (
	sender  INTEGER NOT NULL REFERENCES agents (num),
	key     TEXT    NOT NULL,
	message BLOB    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (sender, key)
) WITHOUT ROWID, STRICT;

CREATE INDEX idempotency_at ON idempotency (at);

CREATE TABLE pairs (
	sender    INTEGER NOT NULL REFERENCES agents (num),
	recipient INTEGER NOT NULL REFERENCES agents (num),
	count     INTEGER NOT NULL,
	PRIMARY KEY (sender, recipient)
) WITHOUT ROWID, STRICT;

CREATE TABLE deliveries (
	message     INTEGER NOT NULL REFERENCES messages (seq),
	agent       INTEGER NOT NULL REFERENCES agents (num),
	state       TEXT    NOT NULL,
	waking      INTEGER NOT NULL,
	pair_seq    INTEGER NOT NULL,
	attempt     INTEGER NOT NULL,
	accepted_at INTEGER NOT NULL,
	PRIMARY KEY (message, agent)
) WITHOUT ROWID, STRICT;

-- What has happened, except messages: a message is its own event.
CREATE TABLE events (
	num     INTEGER NOT NULL PRIMARY KEY,
	at      INTEGER NOT NULL,
	kind    TEXT    NOT NULL,
	conv    BLOB,
	agent   INTEGER,           -- whom it is about
	actor   INTEGER,           -- who did it
	message BLOB,
	data    TEXT
) STRICT;

CREATE TABLE audit (
	num     INTEGER NOT NULL PRIMARY KEY,
	at      INTEGER NOT NULL,
	actor   TEXT    NOT NULL,
	act     TEXT    NOT NULL,
	subject TEXT    NOT NULL,
	detail  TEXT,
	hash    TEXT    NOT NULL
) STRICT;

-- "Parl": this file is Parley's.
PRAGMA application_id = 1348563564;
