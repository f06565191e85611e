//go:build !linux && !darwin

package peer

import (
	"errors"
	"net"
	"time"
)

func now() (time.Duration, error) { return 0, nil }

func credentialsOf(*net.UnixConn) (credentials, error) { return credentials{}, errors.ErrUnsupported }

func processOf(int) (process, error) { return process{}, errors.ErrUnsupported }
