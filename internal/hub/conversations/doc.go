// Package conversations holds conversations and their members: finding one by any of its names, making it, joining and leaving,
// read cursors.
package conversations
