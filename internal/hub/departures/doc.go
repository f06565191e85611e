// Package departures holds messages that leave for a directory tree: which, under which name, and what became of each file.
//
// The hub first looks in a view whether a message is to be written into the tree: departures that have a name and no report yet,
// then new ones. Only for new ones it starts an update, which gives each its name; for channels it moves the cursor of the bridge
// in the same step. So a name is stored before its file is written, and a bridge that is killed in between gets the same name
// again. An agent that lives in several trees has its mail in one of them: the first, by id, that has inboxes.
//
// The delivery follows its file. The file is in place: delivered (in a channel: acked). The file is gone: seen. A file that
// cannot be written, or that made room for others, ends the delivery in a failure, and the sender is told. Departures have no
// lease: nothing comes back by itself. Paused and stopped agents get no files that would wake them. Sleeping agents get asks.
//
// The end of a task that an agent in a tree requested is one message from the assignee, in reply to the request. The answer of
// the run and the usual callback are not written besides.
package departures
