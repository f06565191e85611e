// Package inbox holds taking, acknowledging and settling deliveries, looking into an inbox, dead letters, and what a person was
// shown.
//
// Take gives ready deliveries to their recipient under a lease, in the order of seq or by priority. It waits for a bell that
// rings at every commit with something for the recipient. Ack settles, Nack returns, Extend keeps the lease, See records that a
// turn has started, and Settle ends everything that a lease holds. A reply answers the message it replies to.
package inbox
