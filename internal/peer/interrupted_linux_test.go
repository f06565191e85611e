package peer

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSignalsDoNotKeepACallerOut: the runtime sends itself signals, and one of them may come while the hub asks the kernel
// whether the caller's process has ended.
func TestSignalsDoNotKeepACallerOut(t *testing.T) {
	listener, path := listen(t)
	dialed, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dialed.Close() }()
	conn := accept(t, listener)
	who, err := credentialsOf(conn.(*net.UnixConn))
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Kill(os.Getpid(), unix.SIGURG)
			}
		}
	}()
	for range 5000 {
		if ended, err := who.ended(); ended || err != nil {
			t.Errorf("it has ended: %v, %v", ended, err)
			break
		}
	}
	close(stop)
	<-stopped
}
