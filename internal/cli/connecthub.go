package cli

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/plain"
)

// connectHub is the part of connect that concerns the hub: the agent and its token.
type connectHub struct {
	*client.Client
	app  *app
	home home.Dir
	name string // as home.AgentToken names the hub
}

func (a *app) newConnectHub(dir home.Dir) (*connectHub, error) {
	c, err := a.newClient()
	if err != nil {
		return nil, err
	}
	name, err := a.hubName(dir)
	return &connectHub{c, a, dir, name}, err
}

// hubName returns the hub that commands call, as home.AgentToken names it.
func (a *app) hubName(dir home.Dir) (string, error) {
	options, err := client.Find(a.home)
	if err != nil {
		return "", err
	}
	return hubOf(options, string(dir))
}

// hubWork is what connect must do in the hub.
type hubWork struct {
	agent string // the id
	add   bool   // the agent does not exist
	token bool   // the home has no valid token of the agent
}

// look returns what must be done for an agent. It changes nothing. A dry run does not need a running hub.
func (h *connectHub) look(ctx context.Context, name string, dryRun bool) (hubWork, error) {
	work := hubWork{agent: name, token: true}
	agent, err := h.Agent(ctx, name)
	switch {
	case err != nil && parley.AsError(err).Reason == parley.NotFound:
		work.add = true
		return work, parley.CheckID(name)
	case err != nil && dryRun && parley.AsError(err).Code == parley.Unavailable:
		h.app.printStderr("note: the hub cannot be asked for the agent %s: %v", name, err)
		return work, parley.CheckKnownID(name)
	case err != nil && parley.AsError(err).Reason == parley.Gone:
		return work, parley.AsError(err).Suggest("choose another name with --name")
	case err != nil:
		return work, err
	}
	work.agent = agent.ID
	if err := checkAttached(agent.Agent); err != nil {
		return work, err
	}
	work.token, err = h.needsToken(ctx, agent.ID)
	return work, err
}

// checkAttached refuses a participant that cannot be a client that a person starts.
func checkAttached(a parley.Agent) error {
	switch {
	case a.Kind != parley.KindAgent:
		return parley.Errorf(parley.BadInput, "%s is not an agent", a.ID).Suggest("choose another name with --name")
	case a.Runtime == "":
		return parley.Errorf(parley.BadInput, "the agent %s has no runtime, so that another program may read its inbox", a.ID).
			Suggest("choose another name with --name, or, if no program does: parley agent set %s --runtime %s", a.ID, parley.RuntimeAttached)
	case a.Runtime != parley.RuntimeAttached:
		return parley.Errorf(parley.BadInput, "the hub runs the agent %s itself (runtime %s)", a.ID, a.Runtime).Suggest("choose another name with --name")
	default:
		return nil
	}
}

// needsToken reports whether the home has no valid token of an agent.
func (h *connectHub) needsToken(ctx context.Context, agent string) (bool, error) {
	stored, err := h.home.AgentToken(agent)
	if err != nil {
		if parley.AsError(err).Reason == parley.NotFound {
			err = nil
		}
		return true, err
	}
	if stored.Hub != h.name {
		return true, nil
	}
	tokens, err := h.Tokens(ctx, agent)
	valid := func(t parley.Token) bool { return t.ID == stored.Token && t.Valid(time.Now()) }
	return !slices.ContainsFunc(tokens, valid), err
}

// foreignToken returns the stored token of an agent, if it is for another hub.
func (h *connectHub) foreignToken(agent string) (stored home.AgentToken, isForeign bool) {
	stored, err := h.home.AgentToken(agent)
	return stored, err == nil && stored.Hub != h.name
}

// tokenLabel is the label of the tokens that connect creates.
const tokenLabel = "parley connect"

// prepare adds the agent and stores a token, as far as this must be done. It returns the id of the token. The token may read and send, and
// not decide: other processes of this user can read it too.
func (h *connectHub) prepare(ctx context.Context, work hubWork) (token string, err error) {
	if work.add {
		n := parley.NewAgent{ID: work.agent, Profile: parley.DefaultProfile()}
		n.Runtime = parley.RuntimeAttached
		if _, err := h.AddAgent(ctx, n); err != nil {
			return "", err
		}
	}
	if !work.token {
		stored, err := h.home.AgentToken(work.agent)
		return stored.Token, err
	}
	if err := h.home.Make(); err != nil {
		return "", err
	}
	old, isForeign := h.foreignToken(work.agent)
	made, err := h.NewToken(ctx, parley.NewToken{Agent: work.agent, Label: tokenLabel, Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeSend}})
	if err != nil {
		return "", err
	}
	stored := home.AgentToken{Agent: work.agent, Token: made.ID, Secret: made.Secret, Hub: h.name}
	if err := h.home.SaveAgentToken(stored); err != nil {
		_ = h.RevokeToken(ctx, made.ID) // nobody has its secret
		return "", err
	}
	if isForeign {
		h.app.printStderr("the stored token of %s was for %s; revoke it there: %s", work.agent, hubTitle(old.Hub, string(h.home)), revokeLine(h.home, old))
	}
	return made.ID, nil
}

// versionTimeout is how long a client may take to print its version.
const versionTimeout = 3 * time.Second

var versionNumber = regexp.MustCompile(`\d+\.\d+(\.\d+)?\S*`)

// versionOf returns the version that a program prints, or "".
func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = versionTimeout
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(versionNumber.Find(bytes.TrimSpace(out)))
}

// plainDiff returns a diff that is safe to print on standard error.
func plainDiff(a *app, diff string) string {
	if isTerminal(a.err) {
		return plain.Text(diff)
	}
	return diff
}
