// Package deliveries holds the rows of deliveries, each step of their state, and the event of each step.
//
// The states of a delivery and the steps between them are a table in the root package. Move is the only function that changes a
// state: it asks that table, stores the row and notes the event.
package deliveries
