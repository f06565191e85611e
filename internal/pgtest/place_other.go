//go:build !linux

package pgtest

func (o Options) place() string { return "" }
