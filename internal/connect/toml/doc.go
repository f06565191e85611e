// Package toml edits one table of a TOML document that people wrote. An edit changes the lines of this table, and keeps all other bytes.
package toml
