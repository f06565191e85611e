package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect"
)

// connectionTitle returns the name of a client, with its place if that is not the home of the user.
func connectionTitle(c connect.Connection) string {
	title := c.Client
	if found, err := connect.Find(c.Client); err == nil {
		title = found.Title
	}
	if c.Project != "" || c.Dir != "" {
		title += " in " + c.Place()
	}
	return title
}

// clientLine returns the line for a shell that runs a command for a connected client at its place.
func (a *app) clientLine(verb string, c connect.Connection, words ...string) string {
	words = append([]string{verb, c.Client}, words...)
	found, err := connect.Find(c.Client)
	switch {
	case c.Project != "":
		return "cd " + connect.ShellQuote(c.Project) + " && " + a.commandLine(append(words, "--project")...)
	case err == nil && c.Dir != "":
		return found.Variable + "=" + connect.ShellQuote(c.Dir) + " " + a.commandLine(words...)
	default:
		return a.commandLine(words...)
	}
}

// startLine returns the line for a shell that starts a connected client at its place.
func (a *app) startLine(c connect.Connection) string {
	if found, err := connect.Find(c.Client); err == nil && c.Project != "" {
		return "cd " + connect.ShellQuote(c.Project) + " && " + found.Programs[0]
	}
	return a.commandLine("run", c.Client, "--name", c.Agent)
}

// dirOfAgent returns the directory of the client's configuration: that of the environment, or else the one in which the client is
// connected as the given agent.
func (c *connecting) dirOfAgent() string {
	isMeant := func(of connect.Connection) bool {
		return of.Client == c.setup.Client.ID && of.Agent == c.flags.name && of.Project == ""
	}
	i := slices.IndexFunc(c.list, isMeant)
	if c.setup.Dir != "" || i < 0 || slices.ContainsFunc(c.list, func(of connect.Connection) bool { return isMeant(of) && of.Dir == "" }) {
		return c.setup.Dir
	}
	return c.list[i].Dir
}

// checkOthers refuses what would register two agents at one place, or one agent at two hubs.
func (c *connecting) checkOthers(agent string) error {
	if c.flags.plugin && c.known != nil && len(c.known.Files) > 0 {
		return parley.Errorf(parley.BadInput, "%s is connected as %s by its files, and a plugin would register Parley again", connectionTitle(*c.known), c.known.Agent).
			Suggest("disconnect it first: %s", c.clientLine("disconnect", *c.known))
	}
	if err := c.setup.CheckShared(c.list); err != nil {
		return err
	}
	here := c.setup.Connection()
	here.Agent = agent
	stored, isForeign := c.hub.foreignToken(agent)
	if !isForeign || !isAgentElsewhere(here, c.list) {
		return nil
	}
	return parley.Errorf(parley.BadInput, "another client is connected as %s at %s, and would be moved to %s", agent,
		hubTitle(stored.Hub, string(c.home)), hubTitle(c.hub.name, string(c.home))).Suggest("choose another --name")
}

// describeOthers says what connecting as an agent changes for other agents.
func (c *connecting) describeOthers(agent string) {
	c.describeProjects(agent)
	if c.known == nil || c.known.Agent == agent {
		return
	}
	before, title := c.known.Agent, c.setup.Client.Title
	if isAgentElsewhere(*c.known, c.list) {
		c.printStderr("%s stops being %s. Another client is connected as %s, so its token stays valid.", title, before, before)
	} else {
		c.printStderr("%s stops being %s: its token is revoked, and running sessions lose their tools.", title, before)
	}
	if variable := c.setup.Client.Variable; variable != "" && c.setup.Project == "" {
		dir := connect.ShellQuote(filepath.Join(c.setup.Machine.UserHome, "."+c.setup.Client.ID+"-"+agent))
		c.printStderr("To have both, give the second one a directory of its own: mkdir %s && %s=%s %s",
			dir, variable, dir, c.commandLine("connect", c.setup.Client.ID, "--name", agent))
	}
}

// describeProjects says which registration counts where a project has one of its own.
func (c *connecting) describeProjects(agent string) {
	for _, other := range c.list {
		switch {
		case other.Client != c.setup.Client.ID || (other.Project == "") == (c.setup.Project == ""):
		case other.Project == "":
			c.printStderr("In this project, %s is %s: the hooks of %s as %s keep silent in it.", c.setup.Client.Title, agent, connectionPlace(other), other.Agent)
		default:
			c.printStderr("%s stays %s: the hooks of %s keep silent in it.", connectionTitle(other), other.Agent, agent)
		}
	}
}

// isAgentElsewhere reports whether another connection of a list is as the same agent.
func isAgentElsewhere(c connect.Connection, list []connect.Connection) bool {
	return slices.ContainsFunc(list, func(other connect.Connection) bool { return other.Agent == c.Agent && !other.Same(c) })
}

// noteOthers says where else a client is connected.
func (a *app) noteOthers(here connect.Connection, list []connect.Connection) {
	for _, other := range list {
		if other.Client == here.Client && !other.Same(here) {
			a.printStderr("note: %s is connected as %s; to disconnect it: %s", connectionPlace(other), other.Agent, a.clientLine("disconnect", other))
		}
	}
}

// connectionPlace returns the name of a client with its place.
func connectionPlace(c connect.Connection) string {
	title := connectionTitle(c)
	if !strings.HasSuffix(title, " in "+c.Place()) {
		title += " in " + c.Place()
	}
	return title
}
