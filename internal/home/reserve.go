package home

import (
	"bytes"
	"errors"
	"os"
)

// reserveSize is the space that a hub needs to start: for the index of its write-ahead log, its lock and its
// announcement.
const reserveSize = 1 << 20

func (d Dir) reserve() string { return d.runFile("reserve") }

// FreeReserve frees the space that FillReserve has reserved, so that a hub can start on a full disk.
func (l *Lock) FreeReserve() error {
	err := os.Truncate(l.dir.reserve(), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// FillReserve reserves the space that a hub needs to start, on the disk of the home. On a full disk it reserves less space or
// none, and returns without an error.
func (l *Lock) FillReserve() {
	file, err := os.OpenFile(l.dir.reserve(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	block := bytes.Repeat([]byte("reserved\n"), 4096/9+1)[:4096] // a disk that compresses would not reserve space for zeros
	for at := int64(0); at < reserveSize && err == nil; at += int64(len(block)) {
		_, err = file.WriteAt(block, at)
	}
	_ = file.Close()
}
