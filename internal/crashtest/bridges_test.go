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

// traffic holds the number of files that go each way through each of two trees, and how often the test kills the bridges.
type traffic struct {
	files, kills int
}

var (
	someTraffic = traffic{100, 6}
	allTraffic  = traffic{1000, 60}
)

// bridgeTimeout limits how long the bridges may take.
const bridgeTimeout = 10 * time.Minute

// TestCrashCarriesEachFileOnce kills a hub with its bridges while scripts write files and the hub writes files. In the end each
// document must be exactly one message, and each message exactly one file.
func TestCrashCarriesEachFileOnce(t *testing.T) {
	volume := someTraffic
	if os.Getenv("PARLEY_CRASH_ROUNDS") != "" {
		volume = allTraffic
	}
	_, random := seededRounds(t, volume.kills)
	base := t.TempDir()
	posted, written, killed := 0, 0, 0
	for n := range volume.kills + 1 {
		to, after := volume.files*(n+1)/(volume.kills+1), never
		if n < volume.kills {
			after = 1 + random.IntN(1+(to-posted)/2)
		}
		scripts := writeFiles(t, base, written, to)
		acknowledged, ended := runBridgingVictim(t, after, base, posted, to)
		if err := <-scripts; err != nil {
			t.Fatal(err)
		}
		posted, written = posted+acknowledged, to
		if !ended {
			killed++
		}
	}
	if posted != volume.files || killed < volume.kills/2 || killed > volume.kills {
		t.Fatalf("%d kills of %d, %d of %d posted: the bridges did not end, or too soon", killed, volume.kills, posted, volume.files)
	}
	examine(t, volume.kills, &bytes.Buffer{}, "bridged", base, fmt.Sprint(volume.files))
	t.Logf("%d kills, %d files each way through each tree, each once", killed, volume.files)
}

// never stands for the number of messages after which to kill a victim, if the victim is not to be killed.
const never = -1

// runBridgingVictim runs a victim that bridges two trees and posts messages for them. It kills the victim once the victim has
// printed the given number of messages. It returns how many messages the victim printed, and whether the victim finished.
func runBridgingVictim(t *testing.T, after int, base string, from, to int) (posted int, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bridgeTimeout)
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

// writeFiles writes the documents of scripts in the background, while a victim runs.
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
			name, text := fmt.Sprintf("msg_%08x", n), inboxDocument(n)
			if err := publish(inbox, name, text); err != nil {
				done <- err
				return
			}
			name, text = channelMessage(n)
			if err := publish(channel, name, text); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}

// publish writes a document as scripts do: to a temporary file, which it renames.
func publish(dir, name, text string) error {
	temporary := filepath.Join(dir, name+".tmp")
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(dir, name+".json"))
}

// inboxDocument returns the nth document of the inbox layout: a task or a status, in turn.
func inboxDocument(n int) string {
	kind, payload := "task-delegation", fmt.Sprintf(`{"task":"in-inbox-%d-end"}`, n)
	if n%2 == 1 {
		kind, payload = "status-update", fmt.Sprintf(`{"status":"in_progress","message":"in-inbox-%d-end"}`, n)
	}
	return fmt.Sprintf(`{"version":"1.0.0","msg_id":"msg_%08x","from":"coder-%d","to":"keeper","timestamp":%q,"sequence":%d,"type":%q,"payload":%s}`,
		n, n%20, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n/20+1, kind, payload)
}

// channelMessage returns the nth document of the agentos layout, with its name.
func channelMessage(n int) (name, text string) {
	now := time.Now().UTC()
	name = fmt.Sprintf("msg-%s-scribe-%04x", now.Format("20060102-150405"), n)
	return name, fmt.Sprintf(`{"id":%q,"timestamp":%q,"session_id":"work","from":"scribe","to":"all","type":"chat",`+
		`"content":{"text":"in-agentos-%d-end","code":null,"artifacts":[]},"metadata":{"mode":"chat","turn":"scribe"}}`,
		name, now.Format("2006-01-02T15:04:05.000Z"), n)
}
