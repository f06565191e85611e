// Package postgres stores the data of one or more hubs with PostgreSQL.
//
// A transaction that writes takes one lock with its first statement and keeps the lock until it ends. Therefore the updates of
// all hubs run one after the other, each sees all earlier updates, and numbers become visible in their order.
//
// The package delays statements whose result the store does not need, and sends them together with the next statement whose
// result it needs. Each saves a round trip: see conn. If the answer to a COMMIT is lost, the package looks the commit up in the
// table commits and never just repeats it: see settle.
package postgres
