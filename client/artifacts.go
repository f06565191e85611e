package client

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/parley-hub/parley"
)

// PutArtifact stores the body of an artifact. Messages can refer to the artifact that it returns.
func (c *Client) PutArtifact(ctx context.Context, body io.Reader) (parley.Artifact, error) {
	r := request{method: http.MethodPost, stream: body, contentType: "application/octet-stream"}
	return callWithoutLimit[parley.Artifact](ctx, c, r, "artifacts")
}

// OpenArtifact returns the body with a digest. Reading the body fails at its end if the bytes do not match the digest.
func (c *Client) OpenArtifact(ctx context.Context, sha256 string) (io.ReadCloser, error) {
	stored, err := c.open(ctx, request{method: http.MethodGet}, "artifacts", sha256)
	if err != nil {
		return nil, err
	}
	return parley.Verified(stored, strings.ToLower(sha256)), nil
}

// ArtifactTotals returns the number and size of all stored bodies. Only owners may call it.
func (c *Client) ArtifactTotals(ctx context.Context) (parley.ArtifactTotals, error) {
	return fetch[parley.ArtifactTotals](ctx, c, nil, "artifacts")
}
