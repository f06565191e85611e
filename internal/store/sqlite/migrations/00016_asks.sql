-- +goose Up
-- The task that the answer to an ask has become.
ALTER TABLE waits ADD COLUMN work INTEGER;
CREATE INDEX waits_work ON waits (work) WHERE work IS NOT NULL;
CREATE INDEX waits_parked ON waits (target, id) WHERE work IS NOT NULL AND state IN ('waiting', 'late', 'abandoned');
CREATE INDEX waits_late ON waits (run) WHERE state = 'late' AND run IS NOT NULL;

-- Whether a run answers an ask, in a slot of its own. Its depth says no more than how deep it asks.
ALTER TABLE runs ADD COLUMN ask INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET ask = 1 WHERE depth > 0;

-- The depth of the run that a held call comes from, which may be erased before the call is approved.
ALTER TABLE approvals ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
UPDATE approvals SET depth = coalesce((SELECT r.depth FROM runs r WHERE r.id = approvals.run), 0) WHERE run IS NOT NULL;
