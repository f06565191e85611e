//go:build !linux

package main

import (
	"context"
	"errors"
)

func small(string, []string) error { return errors.New("a small disk can only be made on Linux") }

func fillDisk(context.Context, string) error {
	return errors.New("a small disk can only be made on Linux")
}
