-- +goose Up
-- Lists of asks, the newest question first: those that a participant made, those it was asked, and all open ones.
CREATE INDEX waits_asked_by ON waits (waiter, message) WHERE ask = 1;
CREATE INDEX waits_asked ON waits (target, message) WHERE ask = 1;
CREATE INDEX waits_asks_open ON waits (message) WHERE ask = 1 AND state IN ('waiting', 'late', 'abandoned');
