// Package inbox holds taking, acknowledging and settling deliveries, looking into an inbox, dead letters, and what a person was
// shown.
package inbox
