// Package archive holds export, import, retention and redaction.
package archive
