package httpapi

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/parley-hub/parley"
)

func storeArtifact(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	stored, err := c.hub.PutArtifact(r.Context(), c.caller, r.Body)
	if err == nil {
		writeJSON(w, http.StatusCreated, stored)
	}
	return err
}

type artifactInput struct {
	SHA256 string `path:"sha256" doc:"The SHA-256 of the body, in hexadecimal."`
}

// sendArtifact sends a body as plain bytes, which no browser shows or runs.
func sendArtifact(w http.ResponseWriter, r *http.Request, c *call, in *artifactInput) error {
	body, stored, err := c.hub.OpenArtifact(r.Context(), c.caller, in.SHA256)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	asFile(w, stored.SHA256, stored.Size)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = io.Copy(w, parley.UntilDone(r.Context(), body))
	return err
}

// asFile begins an answer with bytes from a participant. A browser saves them as a file.
func asFile(w http.ResponseWriter, name string, size int64) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h["Cache-Control"] = noStoreHeader
	w.WriteHeader(http.StatusOK)
}

func artifactTotals(ctx context.Context, c *call, _ *noInput) (parley.ArtifactTotals, error) {
	return c.hub.ArtifactTotals(ctx, c.caller)
}
