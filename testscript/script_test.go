package script

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-hub/parley/internal/cli"
	"github.com/parley-hub/parley/internal/pgtest"
)

// raceOptions is the variable of the race detector's options. TestMain sets it so that no process waits a second at its end.
const raceOptions = "GORACE"

func TestMain(m *testing.M) {
	if err := os.Setenv(raceOptions, os.Getenv(raceOptions)+" atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	runProgram := func() { os.Exit(cli.RunAs(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){
		"parley": runProgram, "send-message": runProgram, "send-message.py": runProgram, "who": runProgram, "blackboard": runProgram,
		"escape": escape, "claude": client, "codex": connectedClient,
	})
}

// TestScripts runs every script on each database.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts", err)
	}
	for name, store := range map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "sqlite" },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range files {
				t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) {
					t.Parallel()
					run(t, file, name, func() string { return store(t) })
				})
			}
		})
	}
}

// run runs one script in a directory of its own, with a home for a hub in it.
func run(t *testing.T, file, kind string, newStore func() string) {
	testscript.Run(t, testscript.Params{
		Files:       []string{file},
		WorkdirRoot: t.TempDir(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PARLEY_HOME", filepath.Join(env.WorkDir, "hub"))
			env.Setenv("PARLEY_STORE", newStore())
			env.Setenv("PARLEY_ADDR", "127.0.0.1:0")
			env.Values[hubKey{}] = &hub{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if !slices.Contains([]string{"sqlite", "postgres"}, name) {
				return false, errors.New("there is no such database")
			}
			return name == kind, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"appears": appears,
			"until":   until,
			"hub":     hubCommand,
			"gone":    awaitProcessEnds,
			"exits":   exits,
			"let":     let,
			"talk":    talk,
			"sql":     runSQL,
			"store":   func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("PARLEY_STORE", newStore()) },
		},
		RequireUniqueNames: true,
	})
}

// runSQL is the command sql: it runs the statements of a file. The database is a file of SQLite, which it creates if it is missing,
// or the address of a PostgreSQL database.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql DATABASE FILE")
	}
	if strings.HasPrefix(args[0], "postgres") {
		c, err := pgx.Connect(context.Background(), args[0])
		ts.Check(err)
		_, err = c.Exec(context.Background(), ts.ReadFile(args[1]))
		ts.Check(errors.Join(err, c.Close(context.Background())))
		return
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, db.Close()))
}

// exits runs a command and requires its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exitErr, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exitErr.ExitCode()
	}
	if got != want {
		ts.Fatalf("the exit code is %d, want %d", got, want)
	}
}

// appears waits until a file matches a pattern, and sets a variable to the name of the first match. With !, it waits until no file
// matches.
func appears(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && len(args) != 2 {
		ts.Fatalf("usage: [!] appears PATTERN [NAME]")
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for timeout := time.After(appearWithin); ; {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if (len(found) > 0) != neg {
			if len(args) == 2 && !neg {
				ts.Setenv(args[1], found[0])
			}
			return
		}
		select {
		case <-ticker.C:
		case <-timeout:
			ts.Fatalf("%s: there are still %d", args[0], len(found))
		}
	}
}

const appearWithin = time.Minute

// until repeats a command until its output matches a regular expression.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	wanted, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for timeout := time.After(appearWithin); ; {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && wanted.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-ticker.C:
		case <-timeout:
			ts.Fatalf("%s still does not print %s (%v)", args[1], args[0], err)
		}
	}
}

// let sets a variable to a part of the last output.
func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: let NAME REGEXP")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for _, stream := range []string{"stdout", "stderr"} {
		if found := pattern.FindStringSubmatch(ts.ReadFile(stream)); len(found) == 2 {
			ts.Setenv(args[0], found[1])
			return
		}
	}
	ts.Fatalf("neither stdout nor stderr has %s", args[1])
}
