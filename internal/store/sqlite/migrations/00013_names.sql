-- +goose Up
-- Private conversations that nobody sees both of may have the same name. The rank tells them apart: the one that has had
-- the name longest has the smallest.
ALTER TABLE conversations ADD COLUMN name_rank INTEGER NOT NULL DEFAULT 0;
DROP INDEX conversations_name;
CREATE UNIQUE INDEX conversations_name ON conversations (name, name_rank) WHERE name IS NOT NULL;
