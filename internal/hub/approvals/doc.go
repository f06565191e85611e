// Package approvals holds the rows of approvals, who decides on them, and their text.
package approvals
