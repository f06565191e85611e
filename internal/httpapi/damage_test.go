package httpapi_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// A damaged body never comes as a whole response: a small one is refused with E006, a large one is cut.
func TestDamagedArtifactEndsTheResponseAsFailed(t *testing.T) {
	w := newServedHub(t)
	for name, body := range map[string]string{"small": "steel", "large": strings.Repeat("steel and iron ", 100_000)} {
		t.Run(name, func(t *testing.T) {
			sha := find(t, w.send(request{as: "arya", path: "/v1/artifacts", body: body}).body, "sha256")
			path := filepath.Join(w.Place, "artifacts", sha[:2], sha)
			raw, err := os.ReadFile(path)
			w.NoError(err)
			raw[len(raw)/2] ^= 1
			w.NoError(os.WriteFile(path, raw, 0o600))
			if name == "small" {
				w.assertRefused(t, "the body", request{as: "arya", path: "/v1/artifacts/" + sha}, 500, parley.Internal)
				return
			}
			req, err := http.NewRequest(http.MethodGet, w.server.URL+"/v1/artifacts/"+sha, nil)
			w.NoError(err)
			req.Header.Set("Authorization", "Bearer "+w.tokens["arya"])
			res, err := direct.Do(req)
			w.NoError(err)
			got, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil || len(got) >= len(body) {
				t.Errorf("%d of %d bytes came: %v", len(got), len(body), err)
			}
		})
	}
}
