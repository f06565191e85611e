-- +goose Up
-- What somebody has seen and must still act on: people hold no lease, so their asks and tasks stay seen until they act.
CREATE INDEX deliveries_seen ON deliveries (agent, place) WHERE state = 'seen' AND lease IS NULL AND waking = 1;
