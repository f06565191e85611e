-- +goose Up
-- Which bodies of artifacts there are and who needs them.
CREATE TABLE artifacts (
	sha256    BYTEA  NOT NULL PRIMARY KEY,
	size      BIGINT NOT NULL,
	stored_at BIGINT NOT NULL,  -- when it was last handed in
	refs      BIGINT NOT NULL   -- rows of artifact_refs
) WITH (fillfactor = 80);

CREATE INDEX artifacts_unused ON artifacts (stored_at) WHERE refs = 0;

-- Who has handed it in.
CREATE TABLE artifact_owners (
	sha256 BYTEA  NOT NULL REFERENCES artifacts (sha256),
	agent  BIGINT NOT NULL REFERENCES agents (num),
	PRIMARY KEY (sha256, agent)
);

CREATE TABLE artifact_refs (
	sha256  BYTEA  NOT NULL REFERENCES artifacts (sha256),
	message BIGINT NOT NULL REFERENCES messages (seq),
	PRIMARY KEY (sha256, message)
);

CREATE INDEX artifact_refs_message ON artifact_refs (message);

-- The bodies, in parts. They do not refer to artifacts: a body comes before its row and goes after it.
CREATE TABLE artifact_chunks (
	sha256 BYTEA  NOT NULL,
	n      BIGINT NOT NULL,
	data   BYTEA  NOT NULL,
	PRIMARY KEY (sha256, n)
);

-- Bodies are often compressed already.
ALTER TABLE artifact_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
