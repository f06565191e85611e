// Package script holds whole-program tests: each .txtar file here is a script that runs the real program against
// a hub of its own, on each database.
//
// Beside the usual commands of scripts there are
//
//	hub up [flags…]      start a hub and wait until it is ready
//	hub down             stop the hub by TERM, and require exit code 0
//	hub interrupt        stop the hub by INT, and require exit code 0
//	hub kill             end the hub by KILL
//	hub said REGEXP      require that the hub, which must be down, has printed a match
//	hub detach [flags…]  run parley up --detach; at the end of the script the hub is stopped
//	exits N command…     run a command that must end with exit code N
//	let NAME REGEXP      set a variable to the text that the group in REGEXP matches in the last output
//	talk A B FILE        require that the messages in the direct conversation of A and B are those in a file, in which
//	                     variables like ${TASK} are replaced
//	store                set PARLEY_STORE to a new database; on SQLite, the database of the home
//
// The conditions [sqlite] and [postgres] say on which database a script runs.
package script
