package mcpapi_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/parley-hub/parley/internal/mcpapi"
)

// BenchmarkCall calls a tool over HTTP, which is mostly the way of a call through the protocol.
func BenchmarkCall(b *testing.B) {
	h := newHub(b, mcpapi.Options{})
	keep := &http.Client{Transport: &http.Transport{}}
	defer keep.CloseIdleConnections()
	c := &web{hub: h, agent: "ana"}
	message := filled(call("query_workspace", `{"action":"whoami"}`), "")
	for b.Loop() {
		res, err := keep.Do(c.request(b, b.Context(), http.MethodPost, message))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}
