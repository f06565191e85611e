package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// escape is the program of an agent whose processes try to outlive its run and to act as the owner. It leaves processes behind that
// clear their environment and ignore signals. They stay in the group of the run, join the hub's process group, or leave their
// session. If the directory has the file lower, one more process lowers the limit by which the hub marks it. Each process asks the
// hub for its identity again and again, and writes the answers to the directory.
func escape() {
	dir, socket, mode := os.Args[1], os.Args[2], os.Args[3]
	if mode != "run" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
		if mode == "group" {
			hub, _ := strconv.Atoi(os.Args[4])
			group, _ := syscall.Getpgid(hub)
			err := syscall.Setpgid(0, group)
			_ = os.WriteFile(filepath.Join(dir, "joined"), fmt.Append(nil, err), 0o600)
		}
		if mode == "lowered" {
			lowerMark()
		}
		askIdentity(dir, socket, mode)
		os.Exit(0)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
	}
	modes := []string{"plain", "group", "session"}
	if exists(filepath.Join(dir, "lower")) {
		modes = append(modes, "lowered")
	}
	for _, mode := range modes {
		child := exec.Command(self, dir, socket, mode, strconv.Itoa(os.Getppid()))
		child.Env, child.SysProcAttr = []string{}, &syscall.SysProcAttr{Setsid: mode == "session" || mode == "lowered"}
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
	}
	for _, mode := range modes {
		for !exists(filepath.Join(dir, mode)) {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("done")
	for exists(filepath.Join(dir, "hold")) {
		time.Sleep(time.Millisecond)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// askIdentity asks the hub for its own identity until the script or the hub ends the process. It writes a file after the first
// answer, and one when the hub refuses to answer.
func askIdentity(dir, socket, mode string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", socket)
	}}}
	answers, err := os.OpenFile(filepath.Join(dir, "answers"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	for asked := false; exists(dir) && !exists(filepath.Join(dir, "end")); time.Sleep(time.Millisecond) {
		if response, err := client.Get("http://localhost/v1/whoami"); err == nil {
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			_, _ = fmt.Fprintln(answers, mode, response.StatusCode, string(body))
			if !asked {
				writeAtomically(filepath.Join(dir, mode), strconv.AppendInt(nil, int64(os.Getpid()), 10))
				asked = true
			}
			if response.StatusCode == http.StatusUnauthorized {
				writeAtomically(filepath.Join(dir, mode+"-refused"), body)
			}
		}
	}
}

// writeAtomically makes a file appear with all of its content, because the hub may end the process at any moment.
func writeAtomically(file string, content []byte) {
	if os.WriteFile(file+".tmp", content, 0o600) == nil {
		_ = os.Rename(file+".tmp", file)
	}
}

// client is the program of an attached agent. It keeps a session of the agent by parley watch, with the token in its first argument.
// Meanwhile it runs the other arguments as shell commands, without the token.
func client() {
	watch := exec.Command("sh", "-c", "parley watch --after 1; :")
	watch.Env = append(os.Environ(), "PARLEY_TOKEN="+os.Args[1])
	watch.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that client can end the shell and its children together
	output, err := watch.StdoutPipe()
	if err == nil {
		err = watch.Start()
	}
	if err == nil {
		_, err = output.Read(make([]byte, 1)) // the session has begun
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for _, command := range os.Args[2:] {
		output, err := exec.Command("sh", "-c", command+"; :").CombinedOutput()
		fmt.Println(string(output), err)
	}
	_ = syscall.Kill(-watch.Process.Pid, syscall.SIGKILL) // otherwise it would wait for the next hub for ever
	_ = watch.Wait()
}

// awaitProcessEnds is the command gone: it waits until the processes whose ids are in files have ended, and removes the files.
func awaitProcessEnds(ts *testscript.TestScript, neg bool, files []string) {
	if neg {
		ts.Fatalf("usage: gone FILE…")
	}
	for _, file := range files {
		pid, err := strconv.Atoi(ts.ReadFile(file))
		ts.Check(err)
		for deadline := time.Now().Add(20 * time.Second); isAlive(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				ts.Fatalf("process %d (%s) goes on", pid, file)
			}
		}
		ts.Check(os.Remove(ts.MkAbs(file)))
	}
}

func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ") && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
