-- +goose Up
-- What people call a conversation, where that is more than its name, and the same folded, by which it is found.
ALTER TABLE conversations ADD COLUMN display_name TEXT;
ALTER TABLE conversations ADD COLUMN display_folded TEXT;
CREATE INDEX conversations_display ON conversations (display_folded) WHERE display_folded IS NOT NULL;
