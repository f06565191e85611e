-- +goose Up
-- The number in the short name of an approval or a run, like approval-7. Those there are get theirs by age. It is NULL in rows
-- that a program older than this column has added since.
ALTER TABLE approvals ADD COLUMN number BIGINT;
UPDATE approvals SET number = n.number
	FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS number FROM approvals) n WHERE n.id = approvals.id;
CREATE UNIQUE INDEX approvals_number ON approvals (number);

ALTER TABLE runs ADD COLUMN number BIGINT;
UPDATE runs SET number = n.number
	FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS number FROM runs) n WHERE n.id = runs.id;
CREATE UNIQUE INDEX runs_number ON runs (number);
