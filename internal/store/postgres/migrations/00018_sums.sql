-- +goose Up
-- A checksum over what never changes of a delivery: whose it is, of which message, and how it is queued. NULL in rows
-- that are older than this column.
ALTER TABLE deliveries ADD COLUMN sum BIGINT;
