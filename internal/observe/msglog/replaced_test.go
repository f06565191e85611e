package msglog

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestLogThatSomebodyTakesAway: a person, or a tool that rotates logs, removes it, moves it or empties it.
func TestLogThatSomebodyTakesAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, options(t))
			tell(t, l, step("a", parley.DeliverySeen, 0), step("b", parley.DeliverySeen, time.Second))
			_, at, err := l.Read(parley.LogFilter{Limit: 9})
			if err == nil {
				err = take(l.path(0))
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(t, l, parley.LogFilter{Limit: 9}); got != nil {
				t.Errorf("there are still %q", got)
			}
			followed, enough := make(chan string, 9), errors.New("that is enough")
			done := make(chan error)
			go func() {
				done <- l.Follow(t.Context(), parley.LogFilter{}, at, func(lines []parley.LogLine) error {
					followed <- lines[0].MsgID
					return enough
				})
			}()
			tell(t, l, step("c", parley.DeliverySeen, 2*time.Second))
			if got := strings.Join(ids(t, l, parley.LogFilter{Limit: 9}), " "); got != "c" {
				t.Errorf("afterwards it has %q, want c", got)
			}
			if err := <-done; !errors.Is(err, enough) {
				t.Fatal(err)
			}
			if got := <-followed; got != "c" {
				t.Errorf("whoever follows it is told %q", got)
			}
		})
	}
}

func TestOlderFileThatIsMissingHidesNoneThatIsOlderStill(t *testing.T) {
	o := options(t)
	o.Size = 1 // each in a file of its own
	l := open(t, o)
	for i, id := range []string{"a", "b", "c"} {
		tell(t, l, step(id, parley.DeliverySeen, time.Duration(i)*time.Second))
	}
	if err := os.Remove(l.path(1)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ids(t, l, parley.LogFilter{Limit: 9}), " "); got != "a c" {
		t.Errorf("it has %q, want a c", got)
	}
}
