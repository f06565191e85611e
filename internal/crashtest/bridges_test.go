package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// traffic is how many files go each way through each of two trees, and how often their bridges are killed meanwhile.
type traffic struct {
	files, kills int
}

var (
	someTraffic = traffic{100, 6}
	allTraffic  = traffic{1000, 60}
)

// patience is what bridges get to be done.
const patience = 10 * time.Minute

// TestCrashCarriesEachFileOnce kills a hub with its bridges while scripts write files for it and messages depart. In the
// end each document is one message, and each message one file.
func TestCrashCarriesEachFileOnce(t *testing.T) {
	l := someTraffic
	if os.Getenv("PARLEY_CRASH_ROUNDS") != "" {
		l = allTraffic
	}
	_, random := campaign(t, l.kills)
	base := t.TempDir()
	posted, written, killed := 0, 0, 0
	for n := range l.kills + 1 {
		to, after := l.files*(n+1)/(l.kills+1), never
		if n < l.kills {
			after = 1 + random.IntN(1+(to-posted)/2)
		}
		scripts := writeFiles(t, base, written, to)
		more, ended := carry(t, after, base, posted, to)
		if err := <-scripts; err != nil {
			t.Fatal(err)
		}
		posted, written = posted+more, to
		if !ended {
			killed++
		}
	}
	if posted != l.files || killed < l.kills/2 || killed > l.kills {
		t.Fatalf("%d kills of %d, %d of %d posted: the bridges did not end, or too soon", killed, l.kills, posted, l.files)
	}
	examine(t, l.kills, &bytes.Buffer{}, "bridged", base, fmt.Sprint(l.files))
	t.Logf("%d kills, %d files each way through each tree, each once", killed, l.files)
}

// never is after how many messages a victim is killed that is left alone.
const never = -1

// carry has a victim bridge two trees and post for them, and kills it once it has acknowledged some. It says how many were
// acknowledged, and whether all was done before.
func carry(t *testing.T, after int, base string, from, to int) (posted int, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stderr bytes.Buffer
	work := exec.CommandContext(ctx, victim(t), "bridge", base, fmt.Sprint(from), fmt.Sprint(to))
	work.Stderr = &stderr
	stdout, err := work.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if posted++; posted == after {
			killed = work.Process.Kill() == nil
		}
	}
	err = work.Wait()
	if stderr.Len() > 0 || err != nil && !killed {
		t.Fatalf("the victim failed: %v: %s", err, &stderr)
	}
	return posted, err == nil
}

// writeFiles writes what scripts have to say, while a victim is at work.
func writeFiles(t *testing.T, base string, from, to int) <-chan error {
	t.Helper()
	inbox := filepath.Join(base, "inbox/state/agents/keeper/inbox")
	channel := filepath.Join(base, "agentos/channels/work")
	for _, dir := range []string{inbox, channel} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		for n := from; n < to; n++ {
			name, text := fmt.Sprintf("msg_%08x", n), routed(n)
			if err := publish(inbox, name, text); err != nil {
				done <- err
				return
			}
			name, text = said(n)
			if err := publish(channel, name, text); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}

// publish writes a document as the seeds' scripts do.
func publish(dir, name, text string) error {
	temporary := filepath.Join(dir, name+".tmp")
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(dir, name+".json"))
}

// routed is a document of the inbox layout: now a task, now news.
func routed(n int) string {
	kind, payload := "task-delegation", fmt.Sprintf(`{"task":"in-inbox-%d-end"}`, n)
	if n%2 == 1 {
		kind, payload = "status-update", fmt.Sprintf(`{"status":"in_progress","message":"in-inbox-%d-end"}`, n)
	}
	return fmt.Sprintf(`{"version":"1.0.0","msg_id":"msg_%08x","from":"coder-%d","to":"keeper","timestamp":%q,"sequence":%d,"type":%q,"payload":%s}`,
		n, n%20, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n/20+1, kind, payload)
}

// said is a document of a channel, with its name.
func said(n int) (name, text string) {
	now := time.Now().UTC()
	name = fmt.Sprintf("msg-%s-scribe-%04x", now.Format("20060102-150405"), n)
	return name, fmt.Sprintf(`{"id":%q,"timestamp":%q,"session_id":"work","from":"scribe","to":"all","type":"chat",`+
		`"content":{"text":"in-agentos-%d-end","code":null,"artifacts":[]},"metadata":{"mode":"chat","turn":"scribe"}}`,
		name, now.Format("2006-01-02T15:04:05.000Z"), n)
}
