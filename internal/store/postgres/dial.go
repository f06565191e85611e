package postgres

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
)

const (
	// patience is how long the writer waits for a server that is gone, from when it was found to be.
	patience = 10 * time.Second
	// respite is how long nobody knocks again after that: those who wait are told at once.
	respite        = time.Second
	connectTimeout = 5 * time.Second
)

// Settings of the connections. A writer that hangs in a transaction holds up every hub; the server ends
// it after a time, which is less than the others wait.
var (
	settings       = map[string]string{"application_name": "parley", "client_encoding": "UTF8", "jit": "off"}
	writerSettings = map[string]string{
		"idle_in_transaction_session_timeout": "10s", "lock_timeout": "20s",
		// An update looks rows up, by key. A plan made while a table was small would read all of it later.
		"enable_seqscan": "off", "enable_mergejoin": "off", "enable_hashjoin": "off",
	}
)

// dialer opens connections to one database.
type dialer struct {
	config            *pgx.ConnConfig
	patience, respite time.Duration

	// Only the writer uses these.
	lost    time.Time // since when the server is gone; zero: it is there
	refused time.Time // when it was last given up, with the error that was told
	cause   error
}

// newDialer reads a URL. What is wrong with it is not quoted: it may hold a password.
func newDialer(url string) (*dialer, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil || strings.Contains(config.Database, "@") { // then that is the rest of a password with a / in it
		return nil, parley.Errorf(parley.BadInput, "the address of the database cannot be read").
			Suggest("write it as postgres://user:password@host:5432/database")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	addMissing(config.RuntimeParams, settings)
	return &dialer{config: config, patience: patience, respite: respite}, nil
}

func addMissing(to, from map[string]string) {
	for name, value := range from {
		if _, given := to[name]; !given {
			to[name] = value
		}
	}
}

// name says which database it is, without its password.
func (d *dialer) name() string {
	return fmt.Sprintf("%s on %s:%d", d.config.Database, d.config.Host, d.config.Port)
}

func (d *dialer) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, d.config)
}

// reader opens a connection to read with, or says at once why it cannot.
func (d *dialer) reader() (*pgx.Conn, error) { return d.connect(context.Background()) }

// writer opens a connection to write with. It waits for a server that restarts.
func (d *dialer) writer() (*pgx.Conn, error) {
	if d.cause != nil && time.Since(d.refused) < d.respite {
		return nil, d.cause
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		opened, err := d.openWriter()
		if err == nil {
			d.lost, d.cause = time.Time{}, nil
			return opened, nil
		}
		if d.lost.IsZero() {
			d.lost = time.Now()
		}
		if !unreachable(err) || time.Since(d.lost)+pause > d.patience {
			d.refused, d.cause = time.Now(), d.explain(err)
			return nil, d.cause
		}
		time.Sleep(pause)
	}
}

func (d *dialer) openWriter() (*pgx.Conn, error) {
	config := d.config.Copy()
	config.RuntimeParams = maps.Clone(config.RuntimeParams)
	addMissing(config.RuntimeParams, writerSettings)
	opened, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	// What is acknowledged is on disk, whatever the server does by default.
	_, err = opened.Exec(context.Background(), `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`)
	if err != nil {
		_ = opened.Close(context.Background())
		return nil, &transient{err}
	}
	return opened, nil
}
