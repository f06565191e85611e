// Package jsonc edits JSON documents that people wrote: with comments, trailing commas, a byte order mark and any order, indentation
// and line endings. An edit changes the bytes of one member or item, and keeps all others.
package jsonc
