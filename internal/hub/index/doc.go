// Package index holds the background indexer: it follows the order of messages and feeds the full-text search.
//
// A post does no work for the search. The indexer follows the order of messages instead: it reads the next messages in a view,
// makes words of them outside of any transaction, and adds the words in an update of its own, with the mark of how far it has
// come. So a stop leaves neither a gap nor a repeat. The mark also counts erasures: the store refuses words that were read before
// a message was erased, and those of a second indexer that comes late. While others post, the indexer rests eight times as long
// as it works. A search waits up to a second for its caller's last message, hurries the indexer, and says if that was not enough.
//
// Both databases store the words that internal/search makes, and compare words; neither counts nor ranks. Sender, recipient,
// conversation, type, task and trace are words too, with a first character that no text can contribute. So a filter is one more
// word. The messages that the words select are read newest first, in portions, and checked against rights, times and answers in
// the same snapshot. Go code ranks the newest 500 that remain (decision 6).
package index
