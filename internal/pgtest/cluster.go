// Package pgtest gives tests a PostgreSQL server. By default it starts a private server and removes it after the tests. If the
// environment variable PARLEY_TEST_POSTGRES names a server, it makes databases there and drops only those.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoServer is the error of Start on a machine that cannot run a server.
var ErrNoServer = errors.New("no PostgreSQL server programs (initdb, postgres) are in PATH or under /usr/lib/postgresql")

// Options are the settings of a cluster.
type Options struct {
	Durable bool // sync to disk, for tests that crash the server and for measurements
	TCP     bool // listen also on a port of 127.0.0.1
}

// Cluster is a private server in a temporary directory.
type Cluster struct {
	dir     string
	port    int
	server  *exec.Cmd
	control io.WriteCloser
	replies *bufio.Reader
}

// PasswordUser is the name of the only user whom the server asks for a password. A test that needs the user creates it.
const PasswordUser = "with_password"

const hbaRules = "local all " + PasswordUser + " scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n"

// supervise makes a cluster, and runs the server until its input ends. The input ends even if the parent process crashes. Then
// supervise removes the cluster. Commands on the input crash, start or restart the server; supervise confirms each one. A server
// that has just started ignores the signal, so supervise repeats it.
const supervise = `
dir=$1 initdb=$2; shift 2
"$initdb" -D "$dir/data" -U parley -A trust --no-sync --no-locale -E UTF8 >"$dir/log" 2>&1
run() { "$@" >>"$dir/log" 2>&1 & pid=$!; }
crash() {
	while kill -QUIT $pid; do sleep 0.1; done 2>/dev/null &
	quit=$!
	wait $pid
	kill $quit
	wait $quit
}
run "$@"
while read -r command; do
	case $command in
	crash) crash ;;
	start) run "$@" ;;
	restart) crash; run "$@" ;;
	esac
	echo done
done
crash
rm -rf "$dir"`

// Start makes a cluster and runs its server. It returns ErrNoServer if this machine cannot run one.
func Start(o Options) (*Cluster, error) {
	bin, err := programDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.parentDir(), "pg")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, port: 5432}
	if err := c.start(bin, o); err != nil {
		return nil, errors.Join(err, c.logError(), os.RemoveAll(dir))
	}
	return c, nil
}

// parentDir returns the directory in which to make the directory of a cluster; "" is the default one for temporary files. A
// cluster that need not be durable goes into memory, because that makes databases ten times faster.
func (o Options) parentDir() string {
	if o.Durable {
		return ""
	}
	return Memory(2 << 30)
}

// programDir returns the directory of the newest server programs.
func programDir() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(initdb), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", ErrNoServer
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

func (c *Cluster) start(bin string, o Options) error {
	attributes, err := unprivileged(c.dir)
	if err != nil {
		return err
	}
	hbaFile := filepath.Join(c.dir, "pg_hba.conf")
	if err := os.WriteFile(hbaFile, []byte(hbaRules), 0o644); err != nil {
		return err
	}
	settings := []string{
		"hba_file=" + hbaFile, "unix_socket_directories=" + c.dir, "listen_addresses=", "max_connections=300", "log_statement=none",
	}
	if o.TCP {
		if c.port, err = freePort(); err != nil {
			return err
		}
		settings = append(settings, "listen_addresses=127.0.0.1", "port="+strconv.Itoa(c.port))
	}
	if !o.Durable {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	command := []string{
		"-c", supervise, "sh", c.dir, filepath.Join(bin, "initdb"), filepath.Join(bin, "postgres"), "-D", filepath.Join(c.dir, "data"),
	}
	for _, setting := range settings {
		command = append(command, "-c", setting)
	}
	c.server = exec.Command("/bin/sh", command...)
	c.server.SysProcAttr, c.server.Dir = attributes, c.dir
	if c.control, err = c.server.StdinPipe(); err != nil {
		return err
	}
	out, err := c.server.StdoutPipe()
	if err != nil {
		return err
	}
	c.replies = bufio.NewReader(out)
	if err := c.server.Start(); err != nil {
		return err
	}
	if err := c.Ready(); err != nil {
		return errors.Join(err, c.Stop())
	}
	return nil
}

// freePort returns a port on which no process listens.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// URL returns the address of a database of this cluster, by its socket.
func (c *Cluster) URL(database string) string {
	query := url.Values{"host": {c.dir}, "port": {strconv.Itoa(c.port)}}
	return (&url.URL{Scheme: "postgres", User: url.User("parley"), Path: "/" + database, RawQuery: query.Encode()}).String()
}

// Addr returns the TCP address of the server, if Options.TCP is set.
func (c *Cluster) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Ready waits until the server takes connections.
func (c *Cluster) Ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, c.logError())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// logError returns the log of the server as an error, or nil if there is no log.
func (c *Cluster) logError() error {
	text, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return nil
	}
	return errors.New(strings.TrimSpace(string(text)))
}

// Crash ends the server at once, as pg_ctl stop -m immediate does.
func (c *Cluster) Crash() error { return c.sendCommand("crash") }

// Run starts the server again after Crash. Call Ready to wait for it.
func (c *Cluster) Run() error { return c.sendCommand("start") }

// Restart ends the server at once and starts it again.
func (c *Cluster) Restart() error { return c.sendCommand("restart") }

func (c *Cluster) sendCommand(command string) error {
	if _, err := io.WriteString(c.control, command+"\n"); err != nil {
		return err
	}
	_, err := c.replies.ReadString('\n')
	return err
}

// Stop ends the server and removes its data.
func (c *Cluster) Stop() error { return errors.Join(c.control.Close(), c.server.Wait()) }
