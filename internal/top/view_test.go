package top

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

var update = flag.Bool("update", false, "write what is kept in files anew")

// newModel is a view whose clock stands still and whose waits are over when a test says so.
func newModel(t testing.TB, h *fakeHub) *Model {
	first, _ := h.Load(t.Context())
	m := New(t.Context(), h, first)
	m.now = func() time.Time { return moment }
	m.later = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return waited{msg} } }
	return m
}

// waited is something that was to be waited for.
type waited struct{ msg tea.Msg }

// do lets a model take in something, and everything that comes of it but for what is to be waited for.
func do(m *Model, msgs ...tea.Msg) (waits []tea.Msg) {
	for len(msgs) > 0 {
		msg := msgs[0]
		msgs = msgs[1:]
		_, cmd := m.Update(msg)
		for _, made := range outcomes(cmd) {
			if w, ok := made.(waited); ok {
				waits = append(waits, w.msg)
			} else {
				msgs = append(msgs, made)
			}
		}
	}
	return waits
}

func outcomes(cmd tea.Cmd) (list []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		for _, one := range msg {
			list = append(list, outcomes(one)...)
		}
		return list
	default:
		return []tea.Msg{msg}
	}
}

func key(text string) tea.KeyPressMsg {
	switch text {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	default:
		return tea.KeyPressMsg{Code: []rune(text)[0], Text: text}
	}
}

func screen(m *Model) string {
	var lines []string
	for one := range strings.SplitSeq(ansi.Strip(m.View().Content), "\n") {
		lines = append(lines, strings.TrimRight(one, " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// eventful is a view in which something has happened.
func eventful(t testing.TB) *Model {
	m := newModel(t, newFakeHub())
	m.messages.add(moment.Add(4*time.Second), 150)
	do(m,
		happened(parley.EventRunProgress, "arya", map[string]any{"run": "r1", "text": "Reading the report\nComparing the numbers of 2029"}),
		happened(parley.EventRun(parley.RunFailed), "gendry", map[string]any{"run": "r0", "failure": parley.Errorf(parley.DependencyFailed, "codex ended with exit code 1")}),
		happened(parley.EventLoopOpened, "", map[string]any{"agents": []string{"arya", "gendry"}, "exchanges": 8}),
	)
	return m
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 30}, {200, 20}} {
		for _, detail := range []bool{false, true} {
			name := fmt.Sprintf("%dx%d", size[0], size[1])
			if detail {
				name += "-detail"
			}
			t.Run(name, func(t *testing.T) {
				m := eventful(t)
				do(m, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				if detail {
					do(m, key("p"), key("enter"))
				}
				kept(t, filepath.Join("testdata", name+".golden"), screen(m))
			})
		}
	}
}

func TestPrint(t *testing.T) {
	h := newFakeHub()
	h.snapshot.Status.Alerts = []parley.Alert{{Message: "the disk is nearly full"}}
	var b strings.Builder
	if err := Print(&b, h.snapshot); err != nil {
		t.Fatal(err)
	}
	kept(t, filepath.Join("testdata", "print.golden"), b.String())
}

func kept(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; if that is meant, run the test with -update. Now it is\n%s", file, got)
	}
}

// TestNothingIsWiderThanTheScreen tries all sizes and hostile names.
func TestNothingIsWiderThanTheScreen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newFakeHub()
		for range rapid.IntRange(0, 30).Draw(rt, "agents") {
			h.snapshot.Agents = append(h.snapshot.Agents, Agent{Presence: parley.Presence{
				ID: rapid.String().Draw(rt, "id"), Kind: parley.KindAgent, Status: parley.StatusIdle, Reason: rapid.String().Draw(rt, "reason"),
			}})
		}
		m := newModel(t, h)
		do(m, happened(parley.EventRunProgress, "arya", map[string]any{"run": "r1", "text": rapid.String().Draw(rt, "text")}))
		width, height := rapid.IntRange(1, 200).Draw(rt, "width"), rapid.IntRange(1, 60).Draw(rt, "height")
		do(m, tea.WindowSizeMsg{Width: width, Height: height})
		for _, press := range rapid.SliceOfN(rapid.SampledFrom([]string{"up", "down", "s", "enter", "esc", "j", "k", "g", "G"}), 0, 8).Draw(rt, "keys") {
			if press == "esc" && m.detail == nil {
				continue // it leaves
			}
			do(m, key(press))
		}
		lines := strings.Split(ansi.Strip(m.View().Content), "\n")
		if len(lines) != height {
			rt.Fatalf("%d lines on %d rows", len(lines), height)
		}
		for _, one := range lines {
			if ansi.StringWidth(one) > width || strings.ContainsAny(one, "\x1b\r\t") {
				rt.Fatalf("%q on %d columns", one, width)
			}
		}
	})
}

func TestALostHubIsShownAndComesBack(t *testing.T) {
	h := newFakeHub()
	m := newModel(t, h)
	h.away = errors.New("away")
	do(m, timerRefresh)
	if got := screen(m); !strings.Contains(got, "connection lost") || !strings.Contains(got, "arya") {
		t.Errorf("it shows\n%s", got)
	}
	h.away = nil
	do(m, timerRefresh)
	if got := screen(m); strings.Contains(got, "connection lost") {
		t.Errorf("it shows\n%s", got)
	}
}
