-- +goose Up
-- Credentials. Of their secrets only hashes are stored.
CREATE TABLE tokens (
	id            BLOB    NOT NULL PRIMARY KEY,
	hash          BLOB    NOT NULL,
	agent         INTEGER NOT NULL REFERENCES agents (num),
	kind          TEXT    NOT NULL,
	label         TEXT,
	scopes        TEXT    NOT NULL,  -- with commas between them
	created_by    INTEGER NOT NULL REFERENCES agents (num),
	created_at    INTEGER NOT NULL,
	expires_at    INTEGER,
	revoked_at    INTEGER,
	session_until INTEGER            -- of a link: when the session it opens must have ended
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_agent ON tokens (agent, id);
CREATE INDEX tokens_ended ON tokens (kind, coalesce(revoked_at, expires_at));
