// Package crashtest shows what "accepted" means: a program that posts and prints each acknowledged
// message is killed, cut off from its disk, or traced, and what it left behind is compared with
// what it printed. The program is in the victim folder.
package crashtest
