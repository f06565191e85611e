-- +goose Up
-- Credentials. Of their secrets only hashes are stored.
CREATE TABLE tokens (
	id            BYTEA  NOT NULL PRIMARY KEY,
	hash          BYTEA  NOT NULL,
	agent         BIGINT NOT NULL REFERENCES agents (num),
	kind          TEXT   NOT NULL,
	label         TEXT,
	scopes        TEXT   NOT NULL,  -- with commas between them
	created_by    BIGINT NOT NULL REFERENCES agents (num),
	created_at    BIGINT NOT NULL,
	expires_at    BIGINT,
	revoked_at    BIGINT,
	session_until BIGINT            -- of a link: when the session it opens must have ended
);

CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_agent ON tokens (agent, id);
CREATE INDEX tokens_ended ON tokens (kind, coalesce(revoked_at, expires_at));
