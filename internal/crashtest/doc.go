// Package crashtest tests that accepted messages and settled deliveries survive crashes. A program posts, takes, runs agents,
// bridges trees, and prints each acknowledgement. The tests kill it, fail its disk or trace it, and compare its home with its
// output. The program is in the folder victim.
package crashtest
