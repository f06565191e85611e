package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFailuresNameNoAddress checks that the failure that senders read contains neither the name server nor an address of this
// network. Only the hub's own log has them.
func TestFailuresNameNoAddress(t *testing.T) {
	to := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 8443}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&net.DNSError{Err: "no such host", Name: "hooks.corp.lan", Server: "10.9.9.9:53", IsNotFound: true}, "its host name does not exist"},
		{&net.DNSError{Err: "server misbehaving", Name: "hooks.corp.lan", Server: "10.9.9.9:53"}, "the lookup of its host name failed"},
		{&net.DNSError{Err: "i/o timeout", Name: "x", Server: "10.9.9.9:53", IsTimeout: true}, "the lookup of its host name failed"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connection refused"},
		{&net.OpError{Op: "read", Net: "tcp", Source: to, Addr: to, Err: os.ErrDeadlineExceeded}, "it did not answer in time"},
		{fmt.Errorf("read tcp 10.1.2.3:1->10.1.2.3:2: %w", io.ErrUnexpectedEOF), "it closed the connection"},
		{errors.New("something at 10.1.2.3"), "the connection failed"},
	} {
		got := explain(t.Context(), &url.Error{Op: "Post", URL: "http://hooks.corp.lan/secret", Err: test.err})
		if want := "cannot reach the webhook: " + test.want; got.Error() != want {
			t.Errorf("%v becomes %q, want %q", test.err, got, want)
		}
	}
}

func TestCallsThatFailAreInTheLogOnly(t *testing.T) {
	s := newFixture(t, unreachable(t))
	r := newRuntime(t, s.dir)
	r.guard.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "udp", Addr: &net.UDPAddr{IP: net.IPv4(10, 9, 9, 9), Port: 53}, Err: syscall.ENETUNREACH}
	}}
	var logged string
	r.options.Failed = func(agent string, err error) { logged = agent + ": " + err.Error() }
	_, err := r.Run(t.Context(), s.request("http://hooks.example/secret"))
	if err == nil || strings.Contains(err.Error(), "10.9.9.9") || strings.Contains(err.Error(), "hooks.example") {
		t.Errorf("the failure is %v", err)
	}
	if !strings.Contains(logged, "10.9.9.9") || strings.Contains(logged, "secret") {
		t.Errorf("the log says %q", logged)
	}
	r.guard.resolver = nameserver(t, "10.1.2.3")
	if _, err := r.Run(t.Context(), s.request("http://hooks.example")); err == nil || strings.Contains(err.Error(), "10.1.2.3") {
		t.Errorf("the failure is %v", err)
	}
}
