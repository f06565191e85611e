package client

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// AuditLog returns a page of the record of administrative acts, the oldest first. Owners only.
func (c *Client) AuditLog(ctx context.Context, page PageRequest) (Page[parley.AuditEntry], error) {
	return fetch[Page[parley.AuditEntry]](ctx, c, page.query(), "audit")
}

// VerifyAudit lets the hub walk along the whole record and compare it with the head that it keeps elsewhere.
// What it finds is in the report. Owners only.
func (c *Client) VerifyAudit(ctx context.Context) (parley.AuditReport, error) {
	return callWithoutLimit[parley.AuditReport](ctx, c, request{method: http.MethodGet}, "audit", "verify")
}
