// Package script holds whole-program tests: each .txtar file here is a script that runs the real program against
// a hub of its own, on each database.
//
// Beside the usual commands of scripts there are
//
//	hub up [flags…]      start a hub and wait until it is ready
//	hub down             stop it by TERM, and see that it stops well
//	hub interrupt        stop it by INT, and see that it stops well
//	hub kill             end it by KILL
//	hub said REGEXP      see that a hub that is down has said something
//	hub detach [flags…]  run parley up --detach; at the end of the script the hub is stopped
//	exits N command…     run a command that must end with exit code N
//	let NAME REGEXP      set a variable to what the group in it matches in the last output
//	talk A B FILE        see that all that A and B have said in their direct conversation is what a file has, with
//	                     variables like ${TASK} in it
//	store                set PARLEY_STORE to a new database; on SQLite it is one by another home
//
// The conditions [sqlite] and [postgres] say on which database a script runs.
package script
