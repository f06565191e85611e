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
	// reconnectTime is how long the writer tries to reach a lost server, counted from the first failure.
	reconnectTime = 10 * time.Second
	// refuseTime is how long the writer does not try again after that. Updates fail at once meanwhile.
	refuseTime     = time.Second
	connectTimeout = 5 * time.Second
)

// Settings of the connections. A writer that hangs in a transaction makes every hub wait. The server ends such a transaction
// after 10 s, which is less than the 20 s for which other writers wait.
var (
	settings       = map[string]string{"application_name": "parley", "client_encoding": "UTF8", "jit": "off"}
	writerSettings = map[string]string{
		"idle_in_transaction_session_timeout": "10s", "lock_timeout": "20s",
		// An update finds rows by key. Without these settings, a plan that was made while a table was small would later read the whole
		// table.
		"enable_seqscan": "off", "enable_mergejoin": "off", "enable_hashjoin": "off",
	}
)

// dialer opens connections to one database.
type dialer struct {
	config                    *pgx.ConnConfig
	reconnectTime, refuseTime time.Duration

	// Only the writer uses these.
	lostSince time.Time // since when the server is gone; zero: it is there
	refusedAt time.Time // when it was last given up, with the error that was told
	lastError error
}

// newDialer returns a dialer for a URL. Its error does not quote the URL, which may contain a password.
func newDialer(url string) (*dialer, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil || strings.Contains(config.Database, "@") { // such a name contains the rest of a password with a slash in it
		return nil, parley.Errorf(parley.BadInput, "cannot parse the address of the database").
			Suggest("write it as postgres://user:password@host:5432/database")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	addMissing(config.RuntimeParams, settings)
	return &dialer{config: config, reconnectTime: reconnectTime, refuseTime: refuseTime}, nil
}

func addMissing(to, from map[string]string) {
	for name, value := range from {
		if _, given := to[name]; !given {
			to[name] = value
		}
	}
}

// name returns the database and the server for error texts, without the password.
func (d *dialer) name() string {
	return fmt.Sprintf("%s on %s:%d", d.config.Database, d.config.Host, d.config.Port)
}

func (d *dialer) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.ConnectConfig(ctx, d.config)
}

// reader opens a connection for reading. It does not wait for a server that restarts.
func (d *dialer) reader() (*pgx.Conn, error) { return d.connect(context.Background()) }

// writer opens a connection for writing. It waits for a server that restarts.
func (d *dialer) writer() (*pgx.Conn, error) {
	if d.lastError != nil && time.Since(d.refusedAt) < d.refuseTime {
		return nil, d.lastError
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		opened, err := d.openWriter()
		if err == nil {
			d.lostSince, d.lastError = time.Time{}, nil
			return opened, nil
		}
		if d.lostSince.IsZero() {
			d.lostSince = time.Now()
		}
		if !isUnreachable(err) || time.Since(d.lostSince)+pause > d.reconnectTime {
			d.refusedAt, d.lastError = time.Now(), d.explain(err)
			return nil, d.lastError
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
	// An acknowledged update must be on disk, so override a server that does not wait for the disk by default.
	_, err = opened.Exec(context.Background(), `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`)
	if err != nil {
		_ = opened.Close(context.Background())
		return nil, &transient{err}
	}
	return opened, nil
}
