package crashtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDisk has a victim mount a small disk and fill it.
func TestFullDisk(t *testing.T) {
	runWithOwnMounts(t, victim(t), "full", t.TempDir())
}

// runWithOwnMounts runs a command in a mount namespace of its own, so that the command can mount a disk.
func runWithOwnMounts(t *testing.T, command string, args ...string) {
	t.Helper()
	run := exec.Command(command, args...)
	run.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		run.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		run.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		run.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	run.WaitDelay = 10 * time.Second // the command may leave processes behind
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// TestHubStartsForReadingOnAFullDisk starts a hub on a full disk. The hub serves reads, and refuses all writes with the same
// error. It accepts writes again once the disk has space. A new home cannot start on a full disk.
func TestHubStartsForReadingOnAFullDisk(t *testing.T) {
	for name, stop := range map[string]string{"stopped": "$p down >/dev/null", "killed": `kill -9 "$(cat pid)"; wait 2>/dev/null || true`} {
		t.Run(name, func(t *testing.T) {
			runWithOwnMounts(t, victim(t), "small", t.TempDir(), "/bin/sh", "-c", fullDiskScript, "sh", program(t), stop)
		})
	}
}

// fullDiskScript runs on a small disk. Its arguments are the program, and the command that ends the hub before the disk is full.
const fullDiskScript = `
unset PARLEY_STORES
set -eu
p="$1 --home $PWD/home"
up() {
	$p up --addr 127.0.0.1:0 >up.log 2>&1 & echo $! >pid
	for i in $(seq 200); do $p status >status.log 2>&1 && return; sleep 0.05; done
	echo "the hub does not start:"; cat up.log; exit 1
}
must() { grep -q "$2" "$1" || { echo "$1 does not say: $2"; cat "$1"; exit 1; }; }
mustnot() { if grep -q "$2" "$1"; then echo "$1 says: $2"; cat "$1"; exit 1; fi; }
fails() { if "$@" >out.log 2>&1; then echo "it succeeds: $*"; cat out.log; exit 1; fi; }

out=$(mktemp -d); log=$PWD
trap 'kill -9 $(cat pid "$log/pid") 2>/dev/null || true; rm -rf "$out"' EXIT
up
$p agent add arya >/dev/null
$p conv new room --with arya >/dev/null
$p chat --conv room '@arya stored before' >/dev/null
eval "$2"
cat /dev/zero >ballast 2>/dev/null || true

disk=$PWD; cd "$out"
up
large=$(head -c 100000 /dev/zero | tr '\0' x)
for i in $(seq 50); do $p send arya "$large" >out.log 2>&1 || break; done # its write-ahead log may have some room
$p conv read room >read.log
must read.log 'stored before'
fails $p send arya "$large"
must out.log 'E002: the disk is full, and nothing was stored (free space'
sleep 1.1 # what was found of readiness holds for a second
fails $p doctor
must out.log '^fail  ready .*the disk is full'
$p status >status.log
must status.log '^not ready .*the disk is full'

fails $1 --home "$disk/new" up --addr 127.0.0.1:0
must out.log 'E002: the disk is full'
mustnot out.log 'unlinkat\|transaction'
[ "$(wc -l <out.log)" = 1 ] || { echo "more than one line:"; cat out.log; exit 1; }

rm "$disk/ballast"
for i in $(seq 200); do $p send arya 'room again' >out.log 2>&1 && break; sleep 0.05; done
$p --as arya inbox >inbox.log
must inbox.log 'stored before'
must inbox.log 'room again'
sleep 1.1 # what was found of readiness holds for a second
$p doctor >out.log || { echo "doctor:"; cat out.log; exit 1; }
mustnot out.log '^fail'
$p down >/dev/null
echo done
`

// TestNoAcknowledgementPrecedesItsFsync traces the system calls of a posting hub. The hub must write a message to the write-ahead
// log and sync the log before it acknowledges the message. Killing a process cannot test this, because the kernel keeps the data
// that the process wrote.
func TestNoAcknowledgementPrecedesItsFsync(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	home := filepath.Join(t.TempDir(), "home")
	strace := exec.Command("strace", "-f", "-qq", "-s", "8192", "-o", trace,
		"-e", "trace=open,openat,write,pwrite64,fsync,fdatasync", victim(t), "post", home, "4", "25")
	if out, err := strace.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	lines := readLines(t, trace)
	acknowledged, early := replay(lines)
	if acknowledged != 100 {
		t.Errorf("the trace shows %d acknowledgements, want 100", acknowledged)
	}
	if len(early) > 0 {
		t.Errorf("acknowledged before they were synced: %v", early)
	}

	// The same trace without its syncs must be refused, or this test could not fail.
	unsynced := lines[:0:0]
	for _, line := range lines {
		if !strings.Contains(line, "sync(") && !strings.Contains(line, "sync resumed") {
			unsynced = append(unsynced, line)
		}
	}
	if acknowledged, early := replay(unsynced); len(early) != acknowledged {
		t.Errorf("without syncs, %d of %d acknowledgements were found to be early", len(early), acknowledged)
	}
}

// TestFailedSyncIsNotFoundAfterACrash makes the kernel fail syncs, and crashes right afterwards. Refused messages must not come
// back from the log, and acknowledged messages must be there. The victim prints a message as refused only if no part of it can
// come back.
func TestFailedSyncIsNotFoundAfterACrash(t *testing.T) {
	for name, failing := range map[string]string{"now and then": "when=30+3", "the last ones": "when=40+"} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			if out, err := exec.Command(victim(t), "absent", home).CombinedOutput(); err != nil { // makes the home, without failing syncs
				t.Fatalf("%v: %s", err, out)
			}
			strace := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync",
				"-e", "inject=fsync,fdatasync:error=EIO:"+failing, victim(t), "stubborn", home, "100")
			strace.Env = append(os.Environ(), "GOMAXPROCS=1") // strace counts the calls of each thread, so keep the threads few
			var stderr strings.Builder
			strace.Stderr = &stderr
			out, err := strace.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, &stderr)
			}
			outcomes := map[string][]string{}
			for line := range strings.Lines(string(out)) {
				outcome, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				outcomes[outcome] = append(outcomes[outcome], rest)
			}
			t.Logf("yes %d, no %d, perhaps %d", len(outcomes["yes"]), len(outcomes["no"]), len(outcomes["perhaps"]))
			if len(outcomes["yes"]) == 0 || len(outcomes["no"])+len(outcomes["perhaps"]) == 0 {
				t.Fatal("nothing was acknowledged, or nothing failed")
			}
			for mode, lines := range map[string][]string{"absent": outcomes["no"], "verify": outcomes["yes"]} {
				check := exec.Command(victim(t), mode, home)
				check.Stdin = strings.NewReader(strings.Join(lines, "\n"))
				if out, err := check.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", mode, err, out)
				}
			}
		})
	}
}

var (
	opened   = regexp.MustCompile(`open(?:at)?\(.*parley\.db-wal".* = (\d+)$`)
	wrote    = regexp.MustCompile(`pwrite64\((\d+), "(.*)"`)
	token    = regexp.MustCompile(`token-\d+-\d+-\d+-end`)
	syncing  = regexp.MustCompile(`f(?:data)?sync\((\d+)(\)\s+= 0| <unfinished)`)
	synced   = regexp.MustCompile(`<\.\.\. f(?:data)?sync resumed>\)\s+= 0`)
	answered = regexp.MustCompile(`write\(1, "\S+ (token-\d+-\d+-\d+-end)\\n"`)
)

// replay reads a trace. It returns the number of acknowledged messages, and the tokens of those that were acknowledged before
// they were durable. A sync makes durable what was written before the sync began.
func replay(lines []string) (acknowledged int, early []string) {
	var (
		logs    = map[string]bool{}     // descriptors of the write-ahead log
		written = map[string]bool{}     // tokens in the log
		durable = map[string]bool{}     // tokens in the log and synced
		pending = map[string][]string{} // thread → tokens that its running sync makes durable
	)
	for _, line := range lines {
		thread, _, _ := strings.Cut(line, " ")
		if m := opened.FindStringSubmatch(line); m != nil {
			logs[m[1]] = true
		}
		if m := wrote.FindStringSubmatch(line); m != nil && logs[m[1]] {
			for _, t := range token.FindAllString(m[2], -1) {
				written[t] = true
			}
		}
		if m := syncing.FindStringSubmatch(line); m != nil && logs[m[1]] {
			var covers []string
			for t := range written {
				covers = append(covers, t)
			}
			if strings.Contains(m[2], "unfinished") {
				pending[thread] = covers
			} else {
				for _, t := range covers {
					durable[t] = true
				}
			}
		}
		if synced.MatchString(line) {
			for _, t := range pending[thread] {
				durable[t] = true
			}
			delete(pending, thread)
		}
		if m := answered.FindStringSubmatch(line); m != nil {
			acknowledged++
			if !durable[m[1]] {
				early = append(early, m[1])
			}
		}
	}
	return acknowledged, early
}

func readLines(t *testing.T, path string) (lines []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(fmt.Errorf("reading the trace: %w", err))
	}
	return lines
}
