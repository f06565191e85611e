//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// waitingCodes maps each outcome of a command that waits to its exit code, which is the same for all these commands.
var waitingCodes = map[string]int{
	"answered": exitDone, "failed": exitError, "timed out": exitTimedOut, "denied": exitDenied, "held": exitDone, "hub gone": exitTimedOut,
}

// waitingCommands maps each command that waits to the handlers of a hub, one for each outcome.
var waitingCommands = map[string]map[string]func(w http.ResponseWriter, r *http.Request){
	"ask data hello? --wait=50ms": contactAnswers(`"outcome":"waiting","message":"m1"`,
		`{"code":"E005","detail":"Error: DataBot failed to respond: it broke","contacted":{"message":"m1"}}`,
		`{"code":"E004","detail":"Error: DataBot did not respond within 120 seconds.","contacted":{"message":"m1","outcome":"late"}}`),
	"delegate data work --wait=50ms": contactAnswers(`"outcome":"delegated","message":"m1","task":"task-1"`,
		`{"code":"E005","detail":"Error: DataBot failed to complete the task: it broke","contacted":{"message":"m1","task":"task-1"}}`,
		`{"code":"E004","detail":"Error: DataBot failed to complete the task: its deadline has passed","contacted":{"message":"m1","task":"task-1"}}`),
	"send data hello? --wait --timeout 50ms":        postAnswers(),
	"reply m0 hello? --wait --timeout 50ms":         postAnswers(),
	"send --conv room hello? --wait --timeout 50ms": postAnswers(),
	"wait m1 --wait=50ms":                           outcomeAnswers("message"),
	"wait task-1 --wait=50ms":                       outcomeAnswers("task"),
	"wait a1 --wait=50ms":                           outcomeAnswers("approval"),
}

func jsonOf(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, body)
}

const problemType = "application/problem+json"

func deny(w http.ResponseWriter, _ *http.Request) {
	jsonOf(w, http.StatusForbidden, problemType, `{"code":"E001","detail":"intern may not contact data"}`)
}

func hold(w http.ResponseWriter, _ *http.Request) {
	jsonOf(w, http.StatusAccepted, "application/json", strings.TrimPrefix(heldAsk, "202 "))
}

func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func contactAnswers(made, failed, late string) map[string]func(http.ResponseWriter, *http.Request) {
	lines := func(last string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = fmt.Fprintf(w, "{\"waiting\":{\"agent\":\"data\",%s},\"wait\":0.05}\n", made)
			_ = http.NewResponseController(w).Flush()
			switch last {
			case "break":
				breakOff(w, r)
			case "wait":
				reached(w)
				<-r.Context().Done()
			}
			_, _ = fmt.Fprintln(w, last)
		}
	}
	return map[string]func(http.ResponseWriter, *http.Request){
		"answered": lines(`{"contacted":{"text":"Response from DataBot: yes","outcome":"answered","message":"m1"}}`),
		"failed":   lines(`{"problem":` + failed + `}`), "timed out": lines(`{"problem":` + late + `}`),
		"denied": deny, "held": hold, "hub gone": lines("break"), "interrupted": lines("wait"),
	}
}

func postAnswers() map[string]func(http.ResponseWriter, *http.Request) {
	const accepted = `{"message":{"id":"m1"},"deliveries":[{"message":"m1","recipient":"data","state":"accepted","waking":true}]}`
	shown := func(delivery string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				jsonOf(w, http.StatusCreated, "application/json", accepted)
			case r.URL.Path == "/v1/messages/m2":
				jsonOf(w, http.StatusOK, "application/json", `{"id":"m2","from":"data","content":{"text":"yes"}}`)
			case delivery == "break":
				breakOff(w, r)
			case delivery == "wait":
				reached(w)
				<-r.Context().Done()
			default:
				jsonOf(w, http.StatusOK, "application/json", `{"id":"m1","deliveries":[{"message":"m1","recipient":"data","waking":true,`+delivery+`}]}`)
			}
		}
	}
	return map[string]func(http.ResponseWriter, *http.Request){
		"answered":  shown(`"state":"answered","answer":"m2","answered_at":"2030-01-02T03:04:05Z"`),
		"failed":    shown(`"state":"failed","failure":{"code":"E005","message":"data did not do this: it broke"}`),
		"timed out": shown(`"state":"delivered"`), "denied": deny, "held": hold, "hub gone": shown("break"), "interrupted": shown("wait"),
	}
}

func outcomeAnswers(kind string) map[string]func(http.ResponseWriter, *http.Request) {
	shown := func(rest string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			first := r.URL.Query().Get("wait") == "0"
			switch {
			case rest == "break" && !first:
				breakOff(w, r)
			case rest == "wait" && !first:
				reached(w)
				<-r.Context().Done()
			case rest == "break" || rest == "wait":
				jsonOf(w, http.StatusOK, "application/json", `{"id":"x","kind":"`+kind+`","state":"waiting"}`)
			default:
				jsonOf(w, http.StatusOK, "application/json", `{"id":"x","kind":"`+kind+`",`+rest+`}`)
			}
		}
	}
	denied := deny
	if kind == "approval" {
		denied = shown(`"state":"denied","done":true,"text":"Approval denied for contacting data.","error":{"code":"E001","message":"Approval denied for contacting data."}`)
	}
	return map[string]func(http.ResponseWriter, *http.Request){
		"answered":  shown(`"state":"answered","done":true,"text":"Response from DataBot: yes","answers":[{"id":"m2","content":{"text":"yes"}}]`),
		"failed":    shown(`"state":"failed","done":true,"text":"Error: it broke","error":{"code":"E005","message":"Error: it broke"}`),
		"timed out": shown(`"state":"waiting"`), "denied": denied, "held": hold, "hub gone": shown("break"), "interrupted": shown("wait"),
	}
}

var (
	reaching sync.Mutex
	onReach  func() // called when a command has begun to wait
)

func reached(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	reaching.Lock()
	defer reaching.Unlock()
	if onReach != nil {
		onReach()
		onReach = nil
	}
}

// serveOutcome serves a hub that answers every call that waits with one handler.
func serveOutcome(t *testing.T, answer func(http.ResponseWriter, *http.Request)) {
	t.Helper()
	hub := http.NewServeMux()
	hub.HandleFunc("/", answer)
	hub.HandleFunc("GET /v1/who", func(w http.ResponseWriter, _ *http.Request) {
		jsonOf(w, http.StatusOK, "application/json", `{"items":[]}`)
	})
	serveHub(t, hub)
}

// TestExitCodesOfEveryCommandThatWaits: exit 5 means that time ran out, and nothing else does.
func TestExitCodesOfEveryCommandThatWaits(t *testing.T) {
	for line, answers := range waitingCommands {
		for outcome, want := range waitingCodes {
			t.Run(line+"/"+outcome, func(t *testing.T) {
				serveOutcome(t, answers[outcome])
				var stdout, stderr strings.Builder
				code := Run(strings.Fields(line), strings.NewReader(""), &stdout, &stderr)
				said := stdout.String() + stderr.String()
				if code != want {
					t.Errorf("exit code %d, want %d: %s", code, want, said)
				}
				if strings.Contains(said, "Error: Error:") || strings.Contains(said, "EOF") {
					t.Errorf("it says %q", said)
				}
				if outcome == "held" && stdout.String() != "This action requires approval. Waiting for approval...\n" {
					t.Errorf("a held call prints %q", stdout.String())
				}
				if outcome == "answered" && !strings.Contains(stdout.String(), "yes\n") {
					t.Errorf("an answer prints %q", stdout.String())
				}
			})
		}
	}
}

// TestInterruptedWaitsEndWith130: an interrupted command says how to wait again.
func TestInterruptedWaitsEndWith130(t *testing.T) {
	for line, answers := range waitingCommands {
		t.Run(line, func(t *testing.T) {
			serveOutcome(t, answers["interrupted"])
			cmd := program(strings.Fields(strings.ReplaceAll(line, "50ms", "5m"))...)
			pipe, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			var said string
			stderr := bufio.NewReader(pipe)
			contacts := strings.HasPrefix(line, "ask") || strings.HasPrefix(line, "delegate")
			begun := make(chan struct{})
			reaching.Lock()
			onReach = func() { close(begun) }
			reaching.Unlock()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if <-begun; contacts {
				said, _ = stderr.ReadString('\n') // the id comes first
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(stderr)
			said += string(rest)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, said)
			}
			if contacts && !strings.Contains(said, "parley wait ") {
				t.Errorf("it says %q", said)
			}
		})
	}
}
