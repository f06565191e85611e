package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestStaleTokensEndUploads: what is sent with a token that is revoked meanwhile is not stored.
func TestStaleTokensEndUploads(t *testing.T) {
	w := newServedHub(t)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "hound"})
	w.NoError(err)
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	w.NoError(err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /v1/artifacts HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Length: 1000000\r\n\r\nsteel", w.port(), made.Secret)
	w.NoError(err)
	for w.countStoredBodies(t) == 0 { // it is being stored
		runtime.Gosched()
	}
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	_, err = conn.Write(make([]byte, 300_000)) // more than is heard before an answer; the rest never comes
	w.NoError(err)
	w.NoError(conn.SetReadDeadline(time.Now().Add(10 * time.Second)))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "401") {
		t.Errorf("%q, %v", line, err)
	}
	if n := w.countStoredBodies(t); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// countStoredBodies is how many files hold artifacts, or are about to.
func (w *servedHub) countStoredBodies(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(w.Place, "artifacts"))
	w.NoError(err)
	return len(list)
}

// TestStaleTokensEndDownloads: whoever is revoked gets no more of what it has begun to fetch.
func TestStaleTokensEndDownloads(t *testing.T) {
	const size = 64 << 20 // more than connections keep
	w := newServedHub(t)
	hound := hub.Caller{Agent: "hound"}
	stored, err := w.PutArtifact(ctx, hound, io.LimitReader(zeros{}, size))
	w.NoError(err)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "hound"})
	w.NoError(err)
	req, err := http.NewRequest(http.MethodGet, w.server.URL+"/v1/artifacts/"+stored.SHA256, http.NoBody)
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+made.Secret)
	res, err := direct.Do(req)
	w.NoError(err)
	defer func() { _ = res.Body.Close() }()
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	held, release, err := w.WatchCredential(ctx, hound) // once it is ended, those before it are
	w.NoError(err)
	defer release()
	w.NoError(w.RemoveAgent(ctx, user, "hound"))
	<-held.Done()
	if n, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Errorf("all %d bytes came", n)
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
