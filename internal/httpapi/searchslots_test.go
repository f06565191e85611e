package httpapi_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowReadersKeepNobodyFromSearching: the searches of all participants together are bounded while the hub searches, not
// while somebody reads what was found.
func TestSlowReadersKeepNobodyFromSearching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		w := newServedHubAt(t, listener)
		via := listener.client()
		defer via.CloseIdleConnections()
		trace := w.postLargeTrace()
		var unread []net.Conn
		for _, who := range []string{"arya", "arya", "gendry", "gendry"} {
			unread = append(unread, w.requestTrace(listener, who, trace))
		}
		synctest.Wait()
		began := time.Now()
		req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:7717/v1/traces/"+trace, http.NoBody)
		w.NoError(err)
		req.Header.Set("Authorization", "Bearer "+w.tokens["rickon"])
		res, err := via.Do(req)
		w.NoError(err)
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK || time.Since(began) > time.Second {
			t.Errorf("somebody else gets %s after %v, %v", res.Status, time.Since(began), err)
		}
		_ = res.Body.Close()
		for _, c := range unread {
			_ = c.Close()
		}
	})
}
