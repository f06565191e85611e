-- +goose Up
-- The words of messages; rowid is the message's seq, named as SQLite does. The text itself is with the
-- message.
CREATE TABLE search (
	rowid  BIGINT   NOT NULL PRIMARY KEY,
	tokens TSVECTOR NOT NULL
);

-- Without a list of pending entries: a search would have to read it, and whoever fills it last pays for all.
CREATE INDEX search_tokens ON search USING GIN (tokens) WITH (fastupdate = off);

-- Which words are common decides how a search goes, so that is looked at for many of them.
ALTER TABLE search ALTER COLUMN tokens SET STATISTICS 1000;

-- One row: the seq of the last message looked at, and how often something was erased.
CREATE TABLE search_mark (
	seq    BIGINT NOT NULL,
	erased BIGINT NOT NULL
);

INSERT INTO search_mark (seq, erased) VALUES (0, 0);

-- Between which seqs the messages of a day (since 1970, UTC) lie. Clocks jump, so days may overlap.
CREATE TABLE search_days (
	day       BIGINT NOT NULL PRIMARY KEY,
	first_seq BIGINT NOT NULL,
	last_seq  BIGINT NOT NULL
);
