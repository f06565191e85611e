// Package names holds short names and pieces of ids: what a name stands for, and what could have been meant by a wrong one.
package names
