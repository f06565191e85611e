package client

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// AuditLog returns a page of the audit log, the oldest entry first. Only owners may call it.
func (c *Client) AuditLog(ctx context.Context, page PageRequest) (Page[parley.AuditEntry], error) {
	return fetch[Page[parley.AuditEntry]](ctx, c, page.query(), "audit")
}

// VerifyAudit lets the hub verify the hashes of the whole audit log, and compare the last one with the copy that it keeps
// outside of the database. The report has the result. Only owners may call it.
func (c *Client) VerifyAudit(ctx context.Context) (parley.AuditReport, error) {
	return callWithoutLimit[parley.AuditReport](ctx, c, request{method: http.MethodGet}, "audit", "verify")
}
