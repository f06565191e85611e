// Package crashtest shows what "accepted" and "settled" mean: a program that posts, takes, runs agents, bridges trees and prints
// what it was told is killed, cut off from its disk, or traced, and what it left behind is compared with
// what it printed. The program is in the victim folder.
package crashtest
