// Package committest hands batches of updates to a writer on SQLite, makes statements fail, and compares the outcomes that the
// callers got with the stored rows. The tests of the writer and of the store share it.
package committest
