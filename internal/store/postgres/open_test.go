package postgres

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
)

// raw runs statements from outside.
func raw(t *testing.T, address string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	for _, statement := range statements {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// with is an address with something changed.
func with(t *testing.T, address string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func in(schema string) func(*url.URL) {
	return func(u *url.URL) { u.RawQuery += "&search_path=" + schema }
}

// refuses requires that a database cannot be opened, for a reason that contains all these words, has a
// hint and no secret.
func refuses(t *testing.T, address string, words ...string) {
	t.Helper()
	db, err := Open(t.Context(), address)
	if err == nil {
		closed(t, db)
		t.Fatal("it was opened")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%q tells the password", err)
	}
	if e := parley.AsError(err); e.Suggestion == "" {
		t.Errorf("%q suggests nothing", err)
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	for address, words := range map[string][]string{
		"postgres://arya:s3cret@127.0.0.1:port/parley":           {"E003", "cannot parse the address"},
		"postgres://arya:s3cret@[::1/parley":                     {"E003", "cannot parse the address"},
		"nonsense s3cret":                                        {"E003", "cannot parse the address"},
		"postgres://arya:s3cret@127.0.0.1:1/parley":              {"E002", "cannot reach the database parley on 127.0.0.1:1"},
		"postgres://arya:s3cret@/parley?host=/does/not/exist":    {"E002", "cannot reach the database"},
		"postgres://arya:s3cret@parley.invalid/parley?x=s3cret&": {"E002", "cannot reach the database"},
	} {
		refuses(t, address, words...)
	}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{})
	raw(t, server.URL("postgres"),
		"CREATE ROLE "+pgtest.PasswordUser+" LOGIN PASSWORD 'r1ght'", "CREATE ROLE guest LOGIN",
		"CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0", "CREATE DATABASE closed",
		"CREATE DATABASE parley")
	raw(t, server.URL("closed"), "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	as := func(user *url.Userinfo) func(*url.URL) { return func(u *url.URL) { u.User = user } }
	refuses(t, with(t, server.URL("parley"), as(url.UserPassword(pgtest.PasswordUser, "s3cret"))),
		"E002", "does not admit the user "+pgtest.PasswordUser)
	refuses(t, with(t, server.URL("parley"), as(url.User("stranger"))), "E002", "does not admit the user stranger")
	refuses(t, server.URL("missing"), "E002", "there is no database missing")
	refuses(t, server.URL("latin"), "E002", "stores LATIN1, not UTF-8")
	refuses(t, with(t, server.URL("closed"), as(url.User("guest"))), "E002", "the user may not create tables in the schema public")
	refuses(t, with(t, server.URL("parley"), in("nowhere")), "E002", "names no schema that exists")
	closed(t, opened(t, server.URL("parley")))
	refuses(t, with(t, server.URL("parley"), as(url.User("guest"))), "E002", "guest may not do this")
}

func TestOldServersAreRefused(t *testing.T) {
	err := databaseInfo{server: 12_00_22, encoding: "UTF8", schema: "public", mayWrite: true}.check("parley on here:5432")
	if e := parley.AsError(err); e.Code != parley.Unavailable || !strings.Contains(e.Message, "PostgreSQL 12, but parley needs 13") {
		t.Errorf("told %v", err)
	}
	if err := (databaseInfo{server: 13_00_00, encoding: "UTF8", schema: "public", mayWrite: true}).check("here"); err != nil {
		t.Error(err)
	}
}

func TestSchemaOfAnotherProgram(t *testing.T) {
	for name, statement := range map[string]string{
		"with tables of its own":     "CREATE TABLE orders (num int)",
		"with a table like one here": "CREATE TABLE meta (key text, value text)",
	} {
		t.Run(name, func(t *testing.T) {
			address := pgtest.URL(t)
			raw(t, address, statement)
			refuses(t, address, "E003", "belongs to another program")
			raw(t, address, "CREATE SCHEMA ours")
			opened(t, with(t, address, in("ours"))) // beside it there is room
		})
	}
}

func TestDatabaseOfANewerProgram(t *testing.T) {
	address := migrated.Copy(t)
	raw(t, address, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	opened(t, address) // which lets this one in
	raw(t, address, "UPDATE meta SET value = '99.1.0' WHERE key = 'min_program'")
	refuses(t, address, "E002", "needs parley 99.1.0 or newer")
}

func TestSchemasOfOneDatabaseAreApart(t *testing.T) {
	address := pgtest.URL(t)
	raw(t, address, "CREATE SCHEMA one", "CREATE SCHEMA two")
	one, two := opened(t, with(t, address, in("one"))), opened(t, with(t, address, in("two")))
	prepare(t, one)
	holds(t, two, nil)
	// While one writes, the other is not held up.
	err := one.Update(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Messages().NextSeq(); err != nil {
			return err
		}
		prepare(t, two)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHubsThatStartAtOnceMigrateOnce(t *testing.T) {
	address := pgtest.URL(t)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			db, err := Open(t.Context(), address)
			if err != nil {
				t.Error(err)
				return
			}
			closed(t, db)
		})
	}
	group.Wait()
}

func TestOpeningIsGivenUp(t *testing.T) {
	address := migrated.Copy(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, address); err != context.Canceled { //nolint:errorlint // the very error
		t.Errorf("told %v", err)
	}
}

func TestDeepCheckFindsRowsThatReferToNothing(t *testing.T) {
	address := migrated.Copy(t)
	db := opened(t, address)
	post(t, db, prepare(t, db), "hello")
	if report, err := db.CheckDeep(t.Context(), nil); err != nil || report.Err() != nil {
		t.Errorf("a good one: %v, %v", err, report.Err())
	}
	raw(t, address, "SET session_replication_role = replica; DELETE FROM agents")
	report, _ := db.CheckDeep(t.Context(), nil)
	if !slices.Contains(report.Problems, "created_by of conversations refers to 1, which does not exist") {
		t.Errorf("found %q", report.Problems)
	}
}
