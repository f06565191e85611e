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

// Variable names the environment variable with the URL of a server to use instead of a private one. Its
// user must be allowed to create databases.
const Variable = "PARLEY_TEST_POSTGRES"

// URL is the address of a new, empty database, which is dropped when the test has ended. Where no
// server can be had the test is skipped, or, with CI=true, fails.
func URL(t testing.TB) string {
	t.Helper()
	return database(t, "template1")
}

// Template is a database that is made once and copied for each test, which is faster.
type Template struct {
	Make func(url string) error
	// Reuse gives the copies of ended tests to later tests, with the rows of the template. That takes a tenth of the time of a new
	// copy. Planner statistics stay from test to test.
	Reuse bool

	once sync.Once
	name string
	rows *contents
	err  error

	mu    sync.Mutex
	spare []string // copies that no test uses
}

// Copy is the address of a copy of the template, which the test has for itself.
func (m *Template) Copy(t testing.TB) string {
	t.Helper()
	s := shared(t)
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

// Drop removes the template itself and its copies. It is for the end of TestMain, where no test runs any more.
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
	s := shared(t)
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

// server is where this process makes databases.
type server struct {
	base    *url.URL
	private *Cluster // which ends when this is let go of

	mu   sync.Mutex // guards conn
	conn *pgx.Conn
}

var (
	theServer *server
	start     = sync.OnceValue(func() error {
		s, err := connect()
		theServer = s
		return err
	})
)

func shared(t testing.TB) *server {
	t.Helper()
	needs(t, start())
	return theServer
}

// needs skips a test where no server can be had. With CI=true it fails.
func needs(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrNoServer) && os.Getenv("CI") != "true":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// Private is a cluster of the test's own, which it may crash.
func Private(t testing.TB, o Options) *Cluster {
	t.Helper()
	cluster, err := Start(o)
	needs(t, err)
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

// create makes a database. Copying its files is several times faster than logging them.
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
