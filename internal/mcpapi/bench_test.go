package mcpapi_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/parley-hub/parley/internal/mcpapi"
)

// BenchmarkCall calls tools over HTTP.
func BenchmarkCall(b *testing.B) {
	for _, one := range []struct{ tool, args string }{
		{"query_workspace", `{"action":"whoami"}`},
		{"read_conversation", `{"conversation":"#fruit"}`},
	} {
		b.Run(one.tool, func(b *testing.B) {
			h := newHub(b, mcpapi.Options{})
			for range 20 {
				h.SayIn("ben", "fruit", "Is the build green? It was when I looked an hour ago, but much has happened since.")
			}
			keep := &http.Client{Transport: &http.Transport{}}
			defer keep.CloseIdleConnections()
			c := &web{hub: h, agent: "ana"}
			message := filled(call(one.tool, one.args), "")
			b.ReportAllocs()
			for b.Loop() {
				res, err := keep.Do(c.request(b, b.Context(), http.MethodPost, message))
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
}
