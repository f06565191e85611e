// Package contact holds ask, delegate and notify, and waiting for an answer.
package contact
