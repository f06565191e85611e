// Package notices holds what people are to be told outside of the hub, and when it is due.
package notices
