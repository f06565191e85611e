package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// starter makes the test binary a process that starts a cluster, of which "durable" is in TMPDIR, and waits.
const starter = "PARLEY_TEST_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starter) == "" {
		os.Exit(m.Run())
	}
	c, err := Start(Options{Durable: os.Getenv(starter) == "durable"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(c.URL("postgres"))
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = c.Stop()
}

// A server must not outlive the tests that started it, not even when they are killed.
func TestServerEndsWithTheProcessThatStartedIt(t *testing.T) {
	if _, err := programDir(); err != nil {
		requireServer(t, err)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), starter+"=1")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if _, err := conn.Exec(t.Context(), "SELECT pg_sleep(600)"); err == nil || !conn.IsClosed() {
		t.Errorf("the server goes on: %v", err)
	}
}

// Nothing may be left of a cluster that was only being made, either.
func TestClusterThatIsBeingMadeEndsWithTheProcess(t *testing.T) {
	if _, err := programDir(); err != nil {
		requireServer(t, err)
	}
	place, err := os.MkdirTemp("", "parley-pgtest") // not the test's own, where the server's user may not be
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(place) }()
	if err := os.Chmod(place, 0o777); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), starter+"=durable", "TMPDIR="+place)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "initdb", filepath.Join(place, "pg*", "data"), 1)
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	await(t, "the end", filepath.Join(place, "*"), 0)
}

// await waits until a number of files is there.
func await(t *testing.T, what, pattern string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == n {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting for %s: there is %q", what, found)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A server may get the signal to end before it handles signals.
func TestServerCanBeCrashedAtAnyTime(t *testing.T) {
	c := Private(t, Options{})
	for range 20 {
		if err := c.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Ready(); err != nil {
		t.Error(err)
	}
}

func TestDatabasesOfTestsAreApartAndGoneAfterwards(t *testing.T) {
	made := &Template{Make: func(url string) error { return run(t, url, "CREATE TABLE made (n int)") }}
	var addresses []string
	t.Run("in use", func(t *testing.T) {
		addresses = []string{URL(t), made.Copy(t), made.Copy(t)}
		for _, address := range addresses[1:] {
			if err := run(t, address, "INSERT INTO made VALUES (1); CREATE UNIQUE INDEX ON made (n)"); err != nil {
				t.Error(err)
			}
		}
		if err := run(t, addresses[0], "TABLE made"); err == nil {
			t.Error("an empty database is not empty")
		}
	})
	made.Drop()
	for _, address := range addresses {
		if err := run(t, address, "SELECT 1"); err == nil {
			t.Errorf("%s is still there", address)
		}
	}
}

// TestReusedDatabasesAreLikeNewOnes: a later test gets the rows of the template back, whatever an earlier one has done.
func TestReusedDatabasesAreLikeNewOnes(t *testing.T) {
	made := &Template{Reuse: true, Make: func(url string) error {
		return run(t, url, "CREATE TABLE made (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text); CREATE TABLE part (n int REFERENCES made);"+
			"INSERT INTO made (word) VALUES (E'a\tb'), (NULL)")
	}}
	t.Cleanup(made.Drop)
	const asMade = "SELECT 1 / (SELECT count(*) = 2 AND bool_or(word = E'a\tb') FROM made)::int / (NOT EXISTS (TABLE part))::int"
	used := map[string]int{}
	for name, change := range map[string]string{
		"nothing":    "SELECT 1",
		"rows":       "INSERT INTO made (word) VALUES ('c'); INSERT INTO part VALUES (3); UPDATE made SET word = 'x'",
		"no rows":    "DELETE FROM made",
		"an index":   "CREATE INDEX ON made (word)",
		"a column":   "ALTER TABLE made DROP COLUMN word",
		"a table":    "DROP TABLE part",
		"a lock":     "BEGIN; DELETE FROM made",
		"a sequence": "SELECT setval('made_n_seq', 1000)",
		"a trigger":  "ALTER TABLE made DISABLE TRIGGER ALL",
	} {
		t.Run(name, func(t *testing.T) {
			address := made.Copy(t)
			used[address]++
			if err := run(t, address, asMade+"; INSERT INTO made (word) VALUES ('d'); SELECT 1 / (max(n) = 3)::int FROM made"); err != nil {
				t.Error(err)
			}
			conn, err := pgx.Connect(t.Context(), address) // which the test leaves open
			if err == nil {
				_, err = conn.PgConn().Exec(t.Context(), change).ReadAll()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	if n := len(used); n != 4 && n != 5 { // four of the changes are of the tables: such a database is dropped
		t.Errorf("%d databases were made: %v", n, used)
	}
}

func run(t *testing.T, address, statement string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), statement)
	return err
}

func TestNewestProgramsAreTaken(t *testing.T) {
	if a, b := version("/usr/lib/postgresql/9/bin/initdb"), version("/usr/lib/postgresql/15/bin/initdb"); a != 9 || b != 15 {
		t.Errorf("versions %d and %d", a, b)
	}
}
