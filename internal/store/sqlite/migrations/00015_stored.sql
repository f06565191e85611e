-- +goose Up
-- How much one agent has stored is summed up with each artifact it stores.
CREATE INDEX artifact_owners_agent ON artifact_owners (agent);

-- How many conversations one participant has made is counted with each one it makes.
CREATE INDEX conversations_made ON conversations (created_by) WHERE archived_at IS NULL AND kind IN ('channel', 'group');
