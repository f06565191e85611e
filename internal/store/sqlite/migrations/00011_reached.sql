-- +goose Up
ALTER TABLE bridges ADD COLUMN reached INTEGER NOT NULL DEFAULT 0;  -- a bridge has been at the tree

-- When a bridge was removed. What came and went by it is kept for when its tree is joined again.
ALTER TABLE bridges ADD COLUMN removed_at INTEGER;
