// Package screentest is a terminal for tests. It runs a program, and waits until the screen shows what a test expects.
package screentest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// deadline is how long a test waits for something to be on the screen.
const deadline = 30 * time.Second

// Terminal is a terminal with a screen that can be read.
type Terminal struct {
	t      testing.TB
	keys   *os.File // the program reads what is written to this file
	screen vt10x.Terminal

	mu      sync.Mutex
	changed chan struct{} // closed when the screen changes
	ended   bool          // the program has ended
}

// Open makes a terminal. It returns the terminal and the file for the program that uses it.
func Open(t testing.TB, columns, rows int) (*Terminal, *os.File) {
	t.Helper()
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{
		t: t, keys: keys, changed: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(io.Discard)),
	}
	term.Resize(columns, rows)
	go term.show()
	t.Cleanup(func() { _ = keys.Close() })
	return term, tty
}

// Start runs a program on a new terminal.
func Start(t testing.TB, cmd *exec.Cmd, columns, rows int) *Terminal {
	t.Helper()
	term, tty := Open(t, columns, rows)
	defer func() { _ = tty.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	onTerminal(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return term
}

// show draws the output of the program until the program has ended.
func (term *Terminal) show() {
	chunk := make([]byte, 32<<10)
	for {
		n, err := term.keys.Read(chunk)
		_, _ = term.screen.Write(chunk[:n])
		term.mu.Lock()
		close(term.changed)
		term.changed = make(chan struct{})
		term.ended = err != nil
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Resize changes the size of the window. The terminal notifies the program.
func (term *Terminal) Resize(columns, rows int) {
	term.t.Helper()
	term.screen.Resize(columns, rows)
	if err := pty.Setsize(term.keys, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		term.t.Fatal(err)
	}
}

// Type sends text to the program, as if a person had typed it.
func (term *Terminal) Type(text string) {
	term.t.Helper()
	if _, err := io.WriteString(term.keys, text); err != nil {
		term.t.Fatal(err)
	}
}

// Screen returns the text on the screen, without spaces at the ends of lines.
func (term *Terminal) Screen() string {
	lines := strings.Split(term.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Coloured reports whether any character on the screen has a colour of its own.
func (term *Terminal) Coloured() bool {
	columns, rows := term.screen.Size()
	for y := range rows {
		for x := range columns {
			if term.screen.Cell(x, y).FG != vt10x.DefaultFG {
				return true
			}
		}
	}
	return false
}

// Await waits until all of the texts are on the screen.
func (term *Terminal) Await(texts ...string) {
	term.t.Helper()
	term.Until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// Until waits until holds returns true for the screen. It ends the test with the description if that takes too long.
func (term *Terminal) Until(description string, holds func(screen string) bool) {
	term.t.Helper()
	late := time.After(deadline)
	for {
		term.mu.Lock()
		changed, ended := term.changed, term.ended
		term.mu.Unlock()
		screen := term.Screen()
		if holds(screen) {
			return
		}
		if ended {
			term.t.Fatalf("the program ended before there was %s:\n%s", description, screen)
		}
		select {
		case <-changed:
		case <-late:
			term.t.Fatalf("there is no %s:\n%s", description, screen)
		}
	}
}
