//go:build clients

// Package clients drives the real command-line clients by their presets, against a fake model API.
package clients

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// isolated is the variable that is set in a process with a network of its own.
const isolated = "PARLEY_TEST_ISOLATED"

// TestMain runs the tests in a network that has only the loopback interface, if the system can make one.
func TestMain(m *testing.M) {
	if os.Getenv(isolated) == "" && canIsolate {
		os.Exit(runIsolated())
	}
	if err := loopbackUp(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func runIsolated() int {
	again := exec.Command(os.Args[0], os.Args[1:]...)
	again.Env = append(os.Environ(), isolated+"=1")
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	again.SysProcAttr = ownNetwork()
	err := again.Run()
	if again.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "cannot make a separate network for the tests:", err)
		return 1
	}
	return again.ProcessState.ExitCode()
}
