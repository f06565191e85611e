-- +goose Up
-- The words of messages; rowid is the message's seq. The words come folded and separated by spaces, so
-- the simplest tokenizer there is takes them as they are. The text itself is with the message.
CREATE VIRTUAL TABLE search USING fts5 (
	tokens, content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- One row: the seq of the last message looked at, and how often something was erased.
CREATE TABLE search_mark (
	seq    INTEGER NOT NULL,
	erased INTEGER NOT NULL
) STRICT;

INSERT INTO search_mark (seq, erased) VALUES (0, 0);

-- Between which seqs the messages of a day (since 1970, UTC) lie. Clocks jump, so days may overlap.
CREATE TABLE search_days (
	day       INTEGER NOT NULL PRIMARY KEY,
	first_seq INTEGER NOT NULL,
	last_seq  INTEGER NOT NULL
) STRICT;
