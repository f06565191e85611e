// Package delegation holds the use cases of tasks: making, updating, cancelling, retrying and reassigning them, and reading them.
package delegation
