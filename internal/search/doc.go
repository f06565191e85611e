// Package search turns texts into words, and what people type into queries. It is the one tokenizer of
// both databases: they compare words and count nothing, so that they find the same; what is best among
// the messages found, and what to show of it, is decided here as well. It does no I/O.
package search
