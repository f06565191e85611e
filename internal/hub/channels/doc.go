// Package channels holds the use cases of conversations: making, changing and deleting them, joining, adding and removing
// members.
package channels
