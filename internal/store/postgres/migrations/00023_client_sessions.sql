-- +goose Up
-- The client sessions that live. The id is the lease of the deliveries that a session holds. "until" is a time of the lease clock.
CREATE TABLE client_sessions (
	id        BYTEA    NOT NULL PRIMARY KEY,
	agent     BIGINT   NOT NULL REFERENCES agents (num),
	key       TEXT     NOT NULL,
	client    TEXT     NOT NULL,
	kind      TEXT     NOT NULL,
	wake      TEXT     NOT NULL,
	since     BIGINT   NOT NULL,
	last_sign BIGINT   NOT NULL,
	node      TEXT     NOT NULL,
	until     BIGINT   NOT NULL,
	UNIQUE (agent, key)
);
