package pgtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// starter makes the test binary a process that starts a cluster and waits.
const starter = "PARLEY_TEST_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starter) == "" {
		os.Exit(m.Run())
	}
	c, err := Start(Options{})
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
	if _, err := programs(); err != nil {
		needs(t, err)
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

// A server may be told to end before it has begun to listen to signals.
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
