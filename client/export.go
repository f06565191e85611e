package client

import (
	"context"
	"io"
	"net/http"

	"github.com/parley-hub/parley"
)

// Export writes a conversation to w. format is jsonl or markdown.
func (c *Client) Export(ctx context.Context, ref, format string, w io.Writer) error {
	return c.copyTo(ctx, w, query("format", format), "conversations", ref, "export")
}

// ExportAll writes an export of the whole hub to w, as JSON lines that Import reads. Only owners may call it.
func (c *Client) ExportAll(ctx context.Context, w io.Writer) error {
	return c.copyTo(ctx, w, nil, "export")
}

// jsonLines is the content type of JSON lines.
const jsonLines = "application/x-ndjson"

// Import stores the output of ExportAll as history. The hub skips what it already has. Only owners may call it.
func (c *Client) Import(ctx context.Context, lines io.Reader) (parley.ImportReport, error) {
	return callWithoutLimit[parley.ImportReport](ctx, c, request{method: http.MethodPost, stream: lines, contentType: jsonLines}, "import")
}
