// Package costtest pins what the hub's hot use cases cost: SQL statements, round trips to the database, rows written and
// memory allocations, on each database. Times are noisy, so that a use case can become slower unseen; these counts are not.
// The test compares them with testdata/cost.txt. To accept a change, run "make cost" and commit the file: the diff shows
// what the change costs.
package costtest
