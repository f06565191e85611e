package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Variable is the name of the environment variable with the URL of a server to use instead of a private one. The user in the
// URL must be allowed to create databases.
const Variable = "PARLEY_TEST_POSTGRES"

// URL makes an empty database for a test and returns its address. The database is dropped when the test ends. On a machine that
// cannot run a server, URL skips the test, or fails it if the environment variable CI is "true".
func URL(t testing.TB) string {
	t.Helper()
	return database(t, "template1")
}

// Template is a database that is made once and copied for each test. A copy is faster than making the database again.
type Template struct {
	// Make fills a new database with what the copies are to contain.
	Make func(url string) error
	// Reuse gives the copies of ended tests to later tests, after setting their rows back to those of the template. That takes a
	// tenth of the time of a new copy. Planner statistics stay from test to test.
	Reuse bool

	once sync.Once
	name string
	rows *contents
	err  error

	mu    sync.Mutex
	spare []string // copies that no test uses
}

// Copy makes a copy of the template for one test and returns its address.
func (m *Template) Copy(t testing.TB) string {
	t.Helper()
	s := sharedServer(t)
	m.once.Do(func() { m.err = m.make(s) })
	if m.err != nil {
		t.Fatal(m.err)
	}
	if !m.Reuse {
		return database(t, m.name)
	}
	name := m.takeSpare()
	if name == "" {
		var err error
		if name, err = s.create(m.name); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := m.giveBack(s, name); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
	})
	return s.url(name)
}

func (m *Template) make(s *server) (err error) {
	if m.name, err = s.create("template1"); err != nil {
		return err
	}
	if err := m.Make(s.url(m.name)); err != nil || !m.Reuse {
		return err
	}
	m.rows, err = readContents(s.url(m.name))
	return err
}

func (m *Template) takeSpare() (name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.spare); n > 0 {
		name, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	return name
}

// giveBack keeps a copy for a later test. It drops a copy that it cannot make equal to the template again.
func (m *Template) giveBack(s *server, name string) error {
	if m.rows.restore(s.url(name)) != nil {
		return s.drop(name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spare = append(m.spare, name)
	return nil
}

// Drop removes the template itself and its copies. Call it at the end of TestMain, when no test runs any more.
func (m *Template) Drop() {
	if m.name == "" {
		return
	}
	for _, name := range append(m.spare, m.name) {
		_ = theServer.drop(name)
	}
}

func database(t testing.TB, template string) string {
	t.Helper()
	s := sharedServer(t)
	name, err := s.create(template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.drop(name); err != nil {
			t.Errorf("dropping the test's database: %v", err)
		}
	})
	return s.url(name)
}

// server is the server on which this process makes databases.
type server struct {
	base    *url.URL
	private *Cluster // nil with PARLEY_TEST_POSTGRES. The cluster ends when the garbage collector closes its input, so keep it here.

	mu   sync.Mutex // guards conn
	conn *pgx.Conn
}

var (
	theServer   *server
	startServer = sync.OnceValue(func() error {
		s, err := connect()
		theServer = s
		return err
	})
)

func sharedServer(t testing.TB) *server {
	t.Helper()
	requireServer(t, startServer())
	return theServer
}

// requireServer skips a test on a machine that cannot run a server. With CI=true it fails the test.
func requireServer(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrNoServer) && os.Getenv("CI") != "true":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// Private starts a cluster for one test, which may crash it.
func Private(t testing.TB, o Options) *Cluster {
	t.Helper()
	cluster, err := Start(o)
	requireServer(t, err)
	t.Cleanup(func() { _ = cluster.Stop() })
	return cluster
}

func connect() (*server, error) {
	s := &server{}
	address := os.Getenv(Variable)
	if address == "" {
		var err error
		if s.private, err = Start(Options{}); err != nil {
			return nil, err
		}
		address = s.private.URL("postgres")
	}
	var err error
	if s.base, err = url.Parse(address); err != nil {
		return nil, fmt.Errorf("%s is not a URL", Variable)
	}
	if s.conn, err = pgx.Connect(context.Background(), address); err != nil {
		return nil, fmt.Errorf("the server for tests: %w", err)
	}
	return s, nil
}

func (s *server) url(database string) string {
	u := *s.base
	u.Path = "/" + database
	return u.String()
}

// create makes a copy of a template. The strategy file_copy is several times faster than the default one, which logs each page.
func (s *server) create(template string) (name string, err error) {
	name = "parley_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	statement := fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, template)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn.PgConn().ParameterStatus("server_version") >= "15" {
		statement += " STRATEGY file_copy"
	}
	_, err = s.conn.Exec(context.Background(), statement)
	return name, err
}

func (s *server) drop(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
	return err
}
