// Package decisions holds deciding on approvals: listing, approving, denying, by link, and making the approved call.
package decisions
