//go:build !linux

package pgtest

func (o Options) parentDir() string { return "" }
