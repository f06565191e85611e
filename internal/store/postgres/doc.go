// Package postgres is the store's second database: PostgreSQL, used by any number of hubs.
//
// A writing transaction takes one lock, with its first statement, and holds it to its end. So the
// updates of all hubs come one after the other, as those of one do, each sees what was committed before
// it, and numbers become visible in their order.
//
// Statements whose result nobody looks at are sent together with the next one that is looked at, which
// saves a round trip each: see conn. A COMMIT whose answer was lost is looked up in the table commits,
// never repeated blindly: see settle.
package postgres
