-- +goose Up
-- The client sessions that live. The id is the lease of the deliveries that a session holds. "until" is a time of the lease clock.
CREATE TABLE client_sessions (
	id        BLOB    NOT NULL PRIMARY KEY,
	agent     INTEGER NOT NULL REFERENCES agents (num),
	key       TEXT    NOT NULL,
	client    TEXT    NOT NULL,
	kind      TEXT    NOT NULL,
	wake      TEXT    NOT NULL,
	since     INTEGER NOT NULL,
	last_sign INTEGER NOT NULL,
	node      TEXT    NOT NULL,
	until     INTEGER NOT NULL,
	UNIQUE (agent, key)
) WITHOUT ROWID, STRICT;
