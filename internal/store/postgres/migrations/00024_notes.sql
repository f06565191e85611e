-- +goose Up
-- The number of the newest note, so that no note gets the number of a forgotten one.
ALTER TABLE counters ADD COLUMN note BIGINT NOT NULL DEFAULT 0;

-- The notes of agents and of conversations: one of agent and conv is set. A note is found by reading the whole memory, which is
-- small, so there is no index of words.
CREATE TABLE notes (
	num         BIGINT NOT NULL PRIMARY KEY,
	agent       BIGINT REFERENCES agents (num),
	conv        BIGINT REFERENCES conversations (num) ON DELETE CASCADE, -- for a program older than this table
	author      BIGINT NOT NULL REFERENCES agents (num),
	text        TEXT    NOT NULL,
	key         TEXT COLLATE "C",
	created_at  BIGINT NOT NULL,
	redacted_at BIGINT,
	digest      BYTEA   NOT NULL,
	checksum    BYTEA   NOT NULL
);

CREATE INDEX notes_agent ON notes (agent, num) WHERE agent IS NOT NULL;
CREATE INDEX notes_conv ON notes (conv, num) WHERE conv IS NOT NULL;
CREATE INDEX notes_author ON notes (author) WHERE conv IS NOT NULL;
CREATE UNIQUE INDEX notes_key ON notes (author, key) WHERE key IS NOT NULL;
