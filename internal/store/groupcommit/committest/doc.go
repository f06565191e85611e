// Package committest hands batches of updates to a writer on SQLite, makes statements fail, and compares what the callers were told with
// what is stored. The tests of the writer and of the store share it.
package committest
