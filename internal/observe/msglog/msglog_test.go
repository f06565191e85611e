package msglog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/observe/steps"
)

var sent = time.Date(2026, 2, 25, 18, 50, 0, 0, time.UTC)

func step(id string, state parley.DeliveryState, after time.Duration) steps.Step {
	return steps.Step{
		At: sent.Add(after), Accepted: sent, Recipient: "gendry", State: state,
		Message: parley.Message{ID: id, TraceID: "t-" + id, From: "arya", Type: parley.TypeRequest, Conversation: "c"},
	}
}

func open(t *testing.T, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func options(t *testing.T) Options {
	return Options{Dir: filepath.Join(t.TempDir(), "log"), Size: 1 << 20, Files: 3}
}

func tell(t *testing.T, l *Log, list ...steps.Step) {
	t.Helper()
	if err := l.Consume(t.Context(), steps.Batch{Steps: list}); err != nil {
		t.Fatal(err)
	}
}

// ids are the messages of the lines that a filter selects.
func ids(t *testing.T, l *Log, f parley.LogFilter) (ids []string) {
	t.Helper()
	lines, _, err := l.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		ids = append(ids, line.MsgID)
	}
	return ids
}

// TestLines compares lines with the exact format of ClawOS.
func TestLines(t *testing.T) {
	o := options(t)
	l := open(t, o)
	post, again := step("m", parley.DeliveryAccepted, 0), step("m", parley.DeliveryAccepted, time.Second)
	post.Recipient, again.Requeued = "", true
	tell(t, l, post, step("m", parley.DeliveryDelivered, 150*time.Millisecond), again,
		step("m", parley.DeliverySeen, 2*time.Second), step("m", parley.DeliveryDead, time.Minute))
	const form = `{"timestamp":"2026-02-25T18:5%s","level":"%s","msgId":"m","traceId":"t-m","from":"arya","to":"%s","type":"request","latencyMs":%d,"status":"%s"}` + "\n"
	want := fmt.Sprintf(form, "0:00Z", "info", "c", 0, "sent") + fmt.Sprintf(form, "0:00.15Z", "info", "gendry", 150, "delivered") +
		fmt.Sprintf(form, "0:01Z", "warn", "gendry", 1000, "sent") + fmt.Sprintf(form, "0:02Z", "info", "gendry", 2000, "processed") +
		fmt.Sprintf(form, "1:00Z", "error", "gendry", 60000, "failed")
	got, err := os.ReadFile(filepath.Join(o.Dir, "messages.jsonl"))
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	info, err := os.Stat(filepath.Join(o.Dir, "messages.jsonl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestFilters(t *testing.T) {
	l := open(t, options(t))
	other := step("c", parley.DeliveryFailed, time.Hour)
	other.Message.From, other.Recipient, other.Message.TraceID = "jon", "sam", "0000"
	tell(t, l, step("a", parley.DeliverySeen, 0), step("b", parley.DeliveryDelivered, time.Minute), other)
	for name, test := range map[string]struct {
		f    parley.LogFilter
		want string
	}{
		"all":               {parley.LogFilter{Limit: 10}, "a b c"},
		"the newest":        {parley.LogFilter{Limit: 2}, "b c"},
		"of a trace":        {parley.LogFilter{Limit: 9, Trace: parley.TraceKey("t-b")}, "b"},
		"of a message":      {parley.LogFilter{Limit: 9, Trace: "a"}, "a"},
		"from an agent":     {parley.LogFilter{Limit: 9, Agent: "jon"}, "c"},
		"to an agent":       {parley.LogFilter{Limit: 9, Agent: "gendry"}, "a b"},
		"by its status":     {parley.LogFilter{Limit: 9, Status: "failed"}, "c"},
		"since":             {parley.LogFilter{Limit: 9, Since: sent.Add(time.Minute)}, "b c"},
		"nothing of it all": {parley.LogFilter{Limit: 9, Agent: "nobody"}, ""},
	} {
		if got := strings.Join(ids(t, l, test.f), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestRotation(t *testing.T) {
	o := options(t)
	o.Size = 500 // three lines
	l := open(t, o)
	var want []string
	for i := range 20 {
		id := fmt.Sprint(i)
		tell(t, l, step(id, parley.DeliverySeen, 0))
		want = append(want, id)
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, "*"))
	if err != nil || len(files) != o.Files {
		t.Errorf("files %v, %v", files, err)
	}
	got := ids(t, l, parley.LogFilter{Limit: 100})
	if len(got) < 5 || !slices.Equal(got, want[len(want)-len(got):]) {
		t.Errorf("there are %v", got)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > o.Size {
			t.Errorf("%s has %v, %v", file, info, err)
		}
	}
}

// TestAfterACrash: what is left of a line is cut off, and what is told again is not written again.
func TestAfterACrash(t *testing.T) {
	o := options(t)
	l := open(t, o)
	batch := []steps.Step{step("a", parley.DeliverySeen, 0), step("b", parley.DeliverySeen, 0)}
	tell(t, l, batch...)
	path := filepath.Join(o.Dir, "messages.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 { // wherever the process was killed
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, o)
		tell(t, again, batch...)
		tell(t, again, step("c", parley.DeliverySeen, 0))
		if got := ids(t, again, parley.LogFilter{Limit: 9}); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Fatalf("killed after %d bytes: %v", cut, got)
		}
	}
}

// TestStepsRepeatedAfterACrashAreLoggedOnce: a second's worth, in other batches than before, of which one line is new, and
// through a rotation.
func TestStepsRepeatedAfterACrashAreLoggedOnce(t *testing.T) {
	o := options(t)
	l := open(t, o)
	var all []steps.Step
	var want []string
	for i := range 6000 { // more than one file
		all, want = append(all, step(fmt.Sprint(i), parley.DeliverySeen, time.Duration(i)*time.Millisecond)), append(want, fmt.Sprint(i))
	}
	for batch := range slices.Chunk(all, 200) {
		tell(t, l, batch...)
	}
	again := open(t, o)
	late := step("late", parley.DeliverySeen, 0) // one that was not told before: its message was read anew
	tell(t, again, append([]steps.Step{late}, all[1000:1100]...)...)
	for batch := range slices.Chunk(append(all[1100:], step("new", parley.DeliverySeen, time.Hour)), 150) {
		tell(t, again, batch...)
	}
	got := ids(t, again, parley.LogFilter{Limit: 10_000})
	if want = append(want, "late", "new"); !slices.Equal(got, want) {
		t.Errorf("there are %d lines, want %d; the last are %v", len(got), len(want), got[max(len(got)-5, 0):])
	}
}

func TestFollow(t *testing.T) {
	o := options(t)
	o.Size = 500
	l := open(t, o)
	tell(t, l, step("before", parley.DeliverySeen, 0))
	ctx, cancel := context.WithCancel(t.Context())
	lines, ended := make(chan string), make(chan error)
	go func() {
		ended <- l.Tail(ctx, parley.LogFilter{Limit: 5}, true, func(list []parley.LogLine) error {
			for _, line := range list {
				lines <- line.MsgID
			}
			return nil
		})
	}()
	if got := <-lines; got != "before" {
		t.Errorf("first came %s", got)
	}
	for i := range 10 { // through several files
		tell(t, l, step(fmt.Sprint(i), parley.DeliverySeen, 0))
		if got := <-lines; got != fmt.Sprint(i) {
			t.Errorf("%d: came %s", i, got)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAFullDisk leaves no part of a line; what could not be written is written when it is told again.
func TestAFullDisk(t *testing.T) {
	l := open(t, options(t))
	tell(t, l, step("a", parley.DeliverySeen, 0))
	whole := l.file
	full, err := os.Open(whole.Name()) // which cannot be written to
	if err != nil {
		t.Fatal(err)
	}
	l.file = full
	if err := l.Consume(t.Context(), steps.Batch{Steps: []steps.Step{step("b", parley.DeliverySeen, 0)}}); err == nil {
		t.Error("it was written")
	}
	l.file = whole
	_ = full.Close()
	tell(t, l, step("b", parley.DeliverySeen, 0))
	if got := ids(t, l, parley.LogFilter{Limit: 9}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("there are %v", got)
	}
}
