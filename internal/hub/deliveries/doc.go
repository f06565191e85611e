// Package deliveries holds the rows of deliveries, each step of their state, and the event of each step.
package deliveries
