package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var cursorTests = []test{
	{"a cursor is made once, and moves from its current position", cursorMoves},
	{"a move from another position is refused", cursorConflict},
	{"a failed update does not move a cursor", cursorRollback},
}

func (f *fixture) moveCursor(name string, from, to int64) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Cursors().Move(name, from, to) })
}

func (f *fixture) cursorAt(name string, want int64) {
	f.Helper()
	f.same("the cursor "+name, read(f, func(tx storage.Tx) (int64, error) { return tx.Cursors().Get(name) }), want)
}

func cursorMoves(f *fixture) {
	f.missing("a cursor before it is made", func(tx storage.Tx) error { return errorOf(tx.Cursors().Get("nats")) })
	f.moveCursor("nats", 0, 0) // the position before the first number
	f.cursorAt("nats", 0)
	f.moveCursor("nats", 0, 7)
	f.moveCursor("log", 0, 3)
	f.moveCursor("nats", 7, 1<<40)
	f.cursorAt("nats", 1<<40)
	f.cursorAt("log", 3)
	f.missing("another", func(tx storage.Tx) error { return errorOf(tx.Cursors().Get("NATS")) })
}

func cursorConflict(f *fixture) {
	f.moveCursor("nats", 0, 7)
	for _, from := range []int64{0, 6, 8} {
		f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Cursors().Move("nats", from, 9) })
	}
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Cursors().Move("log", 7, 9) })
	f.cursorAt("nats", 7)
	f.missing("one that was not made", func(tx storage.Tx) error { return errorOf(tx.Cursors().Get("log")) })
}

func cursorRollback(f *fixture) {
	f.moveCursor("nats", 0, 7)
	f.panics(func(tx storage.Tx) error { panic(tx.Cursors().Move("nats", 7, 9)) })
	f.cursorAt("nats", 7)
}
