-- +goose Up
CREATE INDEX runs_failed ON runs (agent, id) WHERE failure IS NOT NULL;
