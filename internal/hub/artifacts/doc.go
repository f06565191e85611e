// Package artifacts holds the bodies of artifacts: storing, reading and removing them, and how much one participant may store.
package artifacts
