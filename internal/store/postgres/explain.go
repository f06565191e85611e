package postgres

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// transient is an error that ended a transaction and may not occur again in another one.
type transient struct{ cause error }

func (t *transient) Error() string { return t.cause.Error() }

func (t *transient) Unwrap() error { return t.cause }

// Error codes (SQLSTATE) of PostgreSQL. Those whose name ends in Class are prefixes of codes.
const (
	noSuchDatabase        = "3D000"
	serializationFailure  = "40001"
	deadlock              = "40P01"
	insufficientPrivilege = "42501"
	diskFull              = "53100"
	tooManyConnections    = "53300"
	lockTimeout           = "55P03"
	readOnly              = "25006"
	idleInTx              = "25P03"
	pageDamaged           = "XX001"
	indexDamaged          = "XX002"
	connectionClass       = "08"
	credentialsClass      = "28"
	operatorClass         = "57P"
)

// sqlState returns the code of an error of the server, or "" for an error of the connection.
func sqlState(err error) string {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code
	}
	return ""
}

// isConflict reports whether an error comes from another transaction that wrote at the same time.
func isConflict(err error) bool {
	return slices.Contains([]string{serializationFailure, deadlock}, sqlState(err))
}

// isUnreachable reports whether an error is likely to end when the server accepts connections again.
func isUnreachable(err error) bool {
	state := sqlState(err)
	if state == "" {
		_, refused := errors.AsType[*pgconn.ConnectError](err)
		_, lost := errors.AsType[*transient](err)
		return refused || lost
	}
	return state == tooManyConnections || state == idleInTx ||
		strings.HasPrefix(state, connectionClass) || strings.HasPrefix(state, operatorClass)
}

// explain turns an error of the database into a *parley.Error with a hint. It returns nil for nil, and a *parley.Error as it
// is. No error contains the password: the server never sends it, and the driver removes it from its own errors.
func (d *dialer) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	state := sqlState(err)
	switch {
	case strings.HasPrefix(state, credentialsClass):
		return parley.Errorf(parley.Unavailable, "the database %s does not admit the user %s: %w", d.name(), d.config.User, err).
			Suggest("check the user and the password in the address of the database")
	case state == noSuchDatabase:
		return parley.Errorf(parley.Unavailable, "there is no database %s: %w", d.name(), err).
			Suggest("create it with createdb, or correct the address")
	case state == insufficientPrivilege:
		return parley.Errorf(parley.Unavailable, "%s may not do this in the database %s: %w", d.config.User, d.name(), err).
			Suggest("make %s the owner of the database", d.config.User)
	case state == readOnly:
		return parley.Errorf(parley.Unavailable, "the database %s is read-only: %w", d.name(), err).
			Retryable(0).Suggest("give the address of the primary server")
	case state == diskFull:
		return parley.Errorf(parley.Unavailable, "the disk of the database is full, and nothing was stored: %w", err).
			Because(parley.StorageFull).Retryable(0).Suggest("free space on the disk of %s, and try again", d.config.Host)
	case state == lockTimeout:
		return parley.Errorf(parley.Unavailable, "another program keeps the database %s locked: %w", d.name(), err).
			Retryable(0).Suggest("find the program that holds the lock, and try again")
	case state == pageDamaged || state == indexDamaged:
		return damaged(err)
	case isConflict(err):
		return parley.Errorf(parley.Unavailable, "another transaction changed the same rows: %w", err).Retryable(0).Suggest("try again")
	case isUnreachable(err):
		return parley.Errorf(parley.Unavailable, "cannot reach the database %s: %w", d.name(), err).
			Retryable(0).Suggest("check that the server runs and that its address is right, and try again")
	default:
		return parley.Errorf(parley.Internal, "the database failed: %w", err)
	}
}

func damaged(cause error) error {
	return parley.Errorf(parley.Internal, "the database %w: %w", store.ErrCorrupt, cause).
		Suggest("stop all hubs and restore the newest backup")
}
