// Package approvals holds the rows of approvals, their deciders and their text.
package approvals
