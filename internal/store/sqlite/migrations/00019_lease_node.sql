-- +goose Up
-- The hub that gave the lease. When this hub starts again, it finds by it what its former process had leased.
ALTER TABLE deliveries ADD COLUMN node TEXT;
