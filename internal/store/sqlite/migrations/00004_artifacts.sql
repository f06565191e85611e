-- +goose Up
-- The bodies of artifacts are files beside the database; here is which there are and who needs them.
CREATE TABLE artifacts (
	sha256    BLOB    NOT NULL PRIMARY KEY,
	size      INTEGER NOT NULL,
	stored_at INTEGER NOT NULL,  -- when it was last handed in
	refs      INTEGER NOT NULL   -- rows of artifact_refs
) WITHOUT ROWID, STRICT;

CREATE INDEX artifacts_unused ON artifacts (stored_at) WHERE refs = 0;

-- Who has handed it in.
CREATE TABLE artifact_owners (
	sha256 BLOB    NOT NULL REFERENCES artifacts (sha256),
	agent  INTEGER NOT NULL REFERENCES agents (num),
	PRIMARY KEY (sha256, agent)
) WITHOUT ROWID, STRICT;

CREATE TABLE artifact_refs (
	sha256  BLOB    NOT NULL REFERENCES artifacts (sha256),
	message INTEGER NOT NULL REFERENCES messages (seq),
	PRIMARY KEY (sha256, message)
) WITHOUT ROWID, STRICT;

CREATE INDEX artifact_refs_message ON artifact_refs (message);
