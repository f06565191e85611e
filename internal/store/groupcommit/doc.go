// Package groupcommit lets many callers write to one database connection and shares each commit among them. The cost of a
// commit is the sync of the disk, or the round trip to a server, so a batch of updates pays for it once.
//
// # Rules
//
//   - One goroutine at a time has the turn to write. A caller that finds the turn free runs its own update at once. Other
//     callers put their update in a queue, which the goroutine with the turn empties. No update waits for others to fill a
//     batch.
//   - A batch is one transaction with at most 256 updates. The writer adds no update to a batch that is older than 5 ms.
//   - Each update but the first runs in a savepoint. An update that fails is undone and leaves the others of its batch alone.
//     The first needs no savepoint: rolling the transaction back undoes it.
//   - No caller learns anything before the commit, because a refusal may rest on what another update of the batch wrote.
//   - The context of a caller counts until its update starts. No context reaches the connection: SQLite rolls the whole
//     transaction back when a statement is interrupted, with all updates of the batch.
//   - If the transaction ends early (a full disk, a lost connection, a failed commit), the writer runs each update of the batch
//     again in a transaction of its own. So a function may run twice, and must change nothing but the database.
//   - After a commit that failed, the writer asks the database whether the commit took effect before it tells any caller that
//     nothing was stored. While the database cannot answer, the writer takes no update.
//
// The package knows SQL's words for transactions and nothing of tables. The type of the transaction that updates get is a
// parameter.
package groupcommit
