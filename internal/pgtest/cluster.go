// Package pgtest gives tests a PostgreSQL server: a private one that is thrown away, or the one that
// PARLEY_TEST_POSTGRES names, where it makes databases and drops only those. It never touches any other.
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

// ErrNoServer says that this machine has no programs to run a server with.
var ErrNoServer = errors.New("no PostgreSQL server programs (initdb, postgres) are in PATH or under /usr/lib/postgresql")

// Options say how a cluster is run.
type Options struct {
	Durable bool // sync to disk: for tests that crash it, and for measurements
	TCP     bool // listen on a port of 127.0.0.1 too
}

// Cluster is a private server in a temporary directory.
type Cluster struct {
	dir     string
	port    int
	server  *exec.Cmd
	control io.WriteCloser
	answers *bufio.Reader
}

// WithPassword is a user that is asked for its password, once a test has created it. Nobody else is.
const WithPassword = "with_password"

const admission = "local all " + WithPassword + " scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n"

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

// Start makes a cluster and runs it. ErrNoServer if that is not possible here.
func Start(o Options) (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.place(), "pg")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, port: 5432}
	if err := c.start(bin, o); err != nil {
		return nil, errors.Join(err, c.log(), os.RemoveAll(dir))
	}
	return c, nil
}

// programs is the directory of the newest server programs.
func programs() (string, error) {
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
	admits := filepath.Join(c.dir, "pg_hba.conf")
	if err := os.WriteFile(admits, []byte(admission), 0o644); err != nil {
		return err
	}
	settings := []string{
		"hba_file=" + admits, "unix_socket_directories=" + c.dir, "listen_addresses=", "max_connections=300", "log_statement=none",
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
	c.answers = bufio.NewReader(out)
	if err := c.server.Start(); err != nil {
		return err
	}
	if err := c.Ready(); err != nil {
		return errors.Join(err, c.Stop())
	}
	return nil
}

// freePort is a port that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// URL is the address of a database of this cluster, by its socket.
func (c *Cluster) URL(database string) string {
	query := url.Values{"host": {c.dir}, "port": {strconv.Itoa(c.port)}}
	return (&url.URL{Scheme: "postgres", User: url.User("parley"), Path: "/" + database, RawQuery: query.Encode()}).String()
}

// Addr is where it listens, if it was asked to.
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
			return errors.Join(err, c.log())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// log is what the server has written, as an error.
func (c *Cluster) log() error {
	text, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		return nil
	}
	return errors.New(strings.TrimSpace(string(text)))
}

// Crash ends the server at once, as pg_ctl stop -m immediate does.
func (c *Cluster) Crash() error { return c.tell("crash") }

// Run runs a server that has crashed. Ready says when it is there.
func (c *Cluster) Run() error { return c.tell("start") }

// Restart ends the server at once and runs it again.
func (c *Cluster) Restart() error { return c.tell("restart") }

func (c *Cluster) tell(command string) error {
	if _, err := io.WriteString(c.control, command+"\n"); err != nil {
		return err
	}
	_, err := c.answers.ReadString('\n')
	return err
}

// Stop ends the server and removes all it has stored.
func (c *Cluster) Stop() error { return errors.Join(c.control.Close(), c.server.Wait()) }
