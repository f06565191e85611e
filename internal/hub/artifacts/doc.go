// Package artifacts holds the bodies of artifacts: storing, reading and removing them, and how much one participant may store.
//
// A client stores a body first and refers to it later, by its digest. storage.Blobs stores the body (as a file beside SQLite, as
// rows on PostgreSQL). It writes the row while nothing can remove the body.
//
// A post that names a digest checks within its update whether the sender may use it. The message and its references are written
// together. The sweep removes rows that nothing refers to, and then their bodies. So every row has its body, whatever crashes. A
// body without a row is waste; the hub finds it after its next start (decision 7).
package artifacts
