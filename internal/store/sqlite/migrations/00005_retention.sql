-- +goose Up
-- Of a message that was redacted: when, and the SHA-256 of the body that is gone.
ALTER TABLE messages ADD COLUMN redacted_at INTEGER;
ALTER TABLE messages ADD COLUMN body_digest BLOB;

-- When the body was removed, though messages refer to it.
ALTER TABLE artifacts ADD COLUMN removed_at INTEGER;

CREATE INDEX artifacts_age ON artifacts (stored_at) WHERE removed_at IS NULL;

-- The number of the newest event that was erased.
ALTER TABLE counters ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;

-- What erased was when a message was last forgotten, and when the index was last cleared of such.
ALTER TABLE search_mark ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_mark ADD COLUMN scrubbed  INTEGER NOT NULL DEFAULT 0;

-- One row: the bytes of the bodies of all messages up to a seq. It moves only where somebody wants to know.
CREATE TABLE message_weight (
	seq   INTEGER NOT NULL,
	bytes INTEGER NOT NULL
) STRICT;

INSERT INTO message_weight (seq, bytes) VALUES (0, 0);
