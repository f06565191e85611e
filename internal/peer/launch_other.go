//go:build !linux

package peer

import "errors"

func become(limits, string, []string) error { return errors.ErrUnsupported }
