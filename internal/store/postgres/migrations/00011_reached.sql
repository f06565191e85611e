-- +goose Up
ALTER TABLE bridges ADD COLUMN reached BIGINT NOT NULL DEFAULT 0;  -- a bridge has been at the tree
