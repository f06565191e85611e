// Package holding holds storing a call that needs an approval, and asking the approvers.
package holding
