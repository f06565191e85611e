package cli

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/connect"
)

// checkClients checks the files of each connected client.
func (d *doctor) checkClients() []connect.Connection {
	list, err := connect.List(d.dir)
	if err != nil {
		d.noteError("clients", err)
	}
	machine, err := thisMachine()
	if err != nil {
		d.noteError("clients", err)
		return nil
	}
	for _, c := range list {
		d.checkClientFiles(c, machine, silentIn(c, list))
	}
	return list
}

// silentIn says which other hooks keep silent in the project of a connection.
func silentIn(c connect.Connection, list []connect.Connection) string {
	var also strings.Builder
	for _, other := range list {
		if c.Project != "" && other.Project == "" && other.Client == c.Client {
			also.WriteString("; the hooks of " + connectionPlace(other) + " as " + other.Agent + " keep silent there")
		}
	}
	return also.String()
}

// checkClientFiles checks that a client has the MCP server and the hooks of Parley, and trusts them. also is what else to say of it.
func (d *doctor) checkClientFiles(c connect.Connection, m connect.Machine, also string) {
	missing, err := c.Missing(m)
	program := c.MissingProgram(m)
	switch trust, todo := c.Trust(m); {
	case !isDirectory(c.Place()):
		d.addFinding("clients", verdictWarn, "%s is connected as %s, but the directory is removed", connectionPlace(c), c.Agent).Fix =
			"mkdir -p " + connect.ShellQuote(c.Place()) + " && " + d.app.clientLine("disconnect", c)
	case err != nil:
		d.addFinding("clients", verdictFail, "%s is connected as %s, but %s", connectionTitle(c), c.Agent, parley.AsError(err).Message).Fix = parley.AsError(err).Suggestion
	case len(missing) > 0:
		d.addFinding("clients", verdictFail, "%s is connected as %s, but its MCP server or its hooks are missing in %s", connectionTitle(c), c.Agent, strings.Join(missing, ", ")).
			Fix = "connect it again: " + d.app.clientLine("connect", c, "--name", c.Agent)
	case program != "" && c.Project == "" && len(c.Files) > 0:
		d.addFinding("clients", verdictFail, "%s is connected as %s, but it cannot run the registered program %s", connectionTitle(c), c.Agent, program).
			Fix = "install the program there again, or connect with the one that you have: " + d.app.clientLine("connect", c)
	case program != "":
		d.addFinding("clients", verdictFail, "%s is connected as %s, but there is no program %s in your PATH", connectionTitle(c), c.Agent, program).
			Fix = "put the program into a directory of your PATH"
	case trust == connect.Untrusted:
		d.addFinding("clients", verdictWarn, "%s is connected as %s with its MCP server and hooks, but does not trust the hooks", connectionTitle(c), c.Agent).Fix = todo
	case trust == connect.Trusted:
		d.addFinding("clients", verdictOK, "%s is connected as %s: MCP server and hooks are registered and trusted%s", connectionTitle(c), c.Agent, also)
	default:
		d.addFinding("clients", verdictOK, "%s is connected as %s: MCP server and hooks are registered%s", connectionTitle(c), c.Agent, also)
	}
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkSessions says for each connected agent which sessions it has open, how they are woken, and when the hub heard of them. With
// --deep, it also sends each of these agents a message.
func (d *doctor) checkSessions(ctx context.Context, hub *client.Client, list []connect.Connection) {
	if len(list) == 0 {
		return
	}
	sessions, err := hub.Sessions(ctx)
	if err != nil {
		d.noteError("sessions", err)
		return
	}
	checked := map[string]bool{}
	for _, c := range list {
		if checked[c.Agent] {
			continue
		}
		checked[c.Agent] = true
		open := 0
		for _, s := range sessions {
			if s.Agent == c.Agent {
				open++
				d.noteSession(s, sessions)
			}
		}
		switch {
		case open == 0:
			d.addFinding("sessions", verdictWarn, "%s has no open session: messages wait in its inbox", c.Agent).Fix = "start the client: " + d.app.startLine(c)
		case d.deep:
			d.sendTest(ctx, hub, c.Agent)
		}
	}
}

func (d *doctor) noteSession(s parley.Session, all []parley.Session) {
	who := s.Client
	if who == "" {
		who = "a client"
	}
	woken := "woken by its " + string(s.Wake)
	switch {
	case isBeforeFirstTurn(s, all):
		woken = "not woken before its first turn"
	case s.Wake == parley.WakeNone:
		woken = "not woken while it is idle"
	}
	d.addFinding("sessions", verdictOK, "%s: %s (%s), %s, last sign %s", s.Agent, who, s.Kind, woken, d.app.formatTime(s.LastSign))
}

// isBeforeFirstTurn reports whether a session is that of an OpenCode without a turn: its plugin waits for mail only from then on.
func isBeforeFirstTurn(s parley.Session, all []parley.Session) bool {
	return s.Wake == parley.WakeNone && strings.HasPrefix(strings.ToLower(s.Client), "opencode") &&
		!slices.ContainsFunc(all, func(other parley.Session) bool { return other.Agent == s.Agent && other.Wake == parley.WakePlugin })
}

// The test message of --deep.
const (
	testText = "This is a test by parley doctor. Please reply with one word: pong."
	testLife = 45 * time.Second         // a client that begins a turn later must not find it
	testWait = testLife + 3*time.Second // the hub ends it meanwhile
)

// sendTest sends a message to an agent, and says how far it comes.
func (d *doctor) sendTest(ctx context.Context, hub *client.Client, agent string) {
	tell, stop := d.app.showSteps(ctx, "sending a message to "+agent)
	defer stop()
	tell("waiting for the agent")
	sent, err := hub.Post(ctx, parley.Draft{Direct: []string{agent}, Content: parley.Content{Text: testText}, TTL: int64(testLife.Seconds())})
	if err != nil {
		d.noteError("delivery", err)
		return
	}
	begun := time.Now()
	shown, err := hub.AwaitState(ctx, sent.Message.ID, parley.DeliveryAnswered, testWait)
	if err == nil && len(shown.Deliveries) == 0 {
		err = parley.Errorf(parley.Unavailable, "the message to %s was not delivered to anyone", agent).Suggest("see it: %s", d.app.commandLine("trace", sent.Message.ID))
	}
	if err != nil {
		d.noteError("delivery", err)
		return
	}
	state, took := shown.Deliveries[0].State, time.Since(begun).Round(time.Second)
	switch state {
	case parley.DeliveryAnswered, parley.DeliverySeen, parley.DeliveryAcked:
		d.addFinding("delivery", verdictOK, "a message to %s is %s after %s", agent, state, took)
	case parley.DeliveryExpired:
		d.addFinding("delivery", verdictWarn, "%s did not take a message within %s, and the message has expired", agent, testLife).Fix = d.testFix()
	default:
		d.addFinding("delivery", verdictWarn, "a message to %s is %s after %s", agent, state, took).Fix = d.testFix()
	}
}

func (d *doctor) testFix() string {
	return "look at the client: it may be busy, wait for you, or need a first turn; see " + d.app.commandLine("session", "list")
}
