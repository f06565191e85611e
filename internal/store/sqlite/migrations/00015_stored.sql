-- +goose Up
-- How much one agent has stored is summed up with each artifact it stores.
CREATE INDEX artifact_owners_agent ON artifact_owners (agent);
