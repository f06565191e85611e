// Package bridges holds the use cases of bridges, and the hub as a bridge uses it.
package bridges
