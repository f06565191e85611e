package client

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/parley-hub/parley"
)

// PutArtifact stores a body, which a message may then refer to by its digest.
func (c *Client) PutArtifact(ctx context.Context, body io.Reader) (parley.Artifact, error) {
	r := request{method: http.MethodPost, stream: body, contentType: "application/octet-stream"}
	return callWithoutLimit[parley.Artifact](ctx, c, r, "artifacts")
}

// OpenArtifact returns a stored body. Reading it fails at its end if it is not what its digest says.
func (c *Client) OpenArtifact(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	stored, err := c.open(ctx, request{method: http.MethodGet}, "artifacts", sha256)
	if err != nil {
		return nil, err
	}
	return parley.Verified(stored, strings.ToLower(sha256)), nil
}

// ArtifactTotals returns sums over all stored bodies. Owners only.
func (c *Client) ArtifactTotals(ctx context.Context) (parley.ArtifactTotals, error) {
	return fetch[parley.ArtifactTotals](ctx, c, nil, "artifacts")
}
