package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/demo"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/plain"
	"github.com/parley-hub/parley/internal/server"
	"github.com/parley-hub/parley/internal/tasktree"
)

// demoTimeout is how long the show may take.
const demoTimeout = time.Minute

// demoShow prints the show on the terminal, each message as it comes.
type demoShow struct {
	watcher
	names        map[string]string // names of agents by id
	acts         []demoAct         // the acts that follow
	conversation string            // the conversation of the present act
	awaitedLines []demo.Line       // the lines that end the present act
}

// demoAct is a part of the show: its title, the function that begins it and returns its conversation, and the lines
// that end it.
type demoAct struct {
	title string
	begin func(context.Context) (conversation string, err error)
	ends  []demo.Line
}

// runDemoShow creates the agents, plays the show, prints things to try, and prints messages from then on.
func (a *app) runDemoShow(ctx context.Context, dir home.Dir, hub *server.Server, once bool) error {
	// The client calls through the socket as the owner. It ignores the tokens in the environment, which are for other hubs.
	c, err := client.New(client.Options{Home: string(dir), Socket: hub.About().Socket, Source: "cli"})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := demo.SetUp(ctx, c); err != nil {
		return err
	}
	s := &demoShow{watcher: watcher{app: a, client: c, titles: map[string]string{}}, names: map[string]string{}}
	for _, agent := range demo.Agents() {
		s.names[agent.ID] = agent.Name
	}
	s.planActs(once)
	a.printParagraph("A hub is running in %s, with six agents that follow rules: no API key, no network.", dir)
	return s.play(ctx, func() (more bool, err error) {
		if once {
			return false, nil
		}
		return true, s.printThingsToTry(ctx, dir, hub)
	})
}

// planActs plans the acts. With --once there is nobody to approve the request, so the show approves it.
func (s *demoShow) planActs(once bool) {
	for _, act := range demo.Acts() {
		s.acts = append(s.acts, demoAct{act.Title, func(ctx context.Context) (string, error) {
			receipt, err := s.client.Post(ctx, act.Begin)
			return receipt.Message.Conversation, err
		}, act.Ends})
	}
	if once {
		s.acts = append(s.acts, demoAct{"You approve it", s.approve, []demo.Line{demo.ApprovedLine()}})
	}
}

// play prints messages, one act after the other. After the last act it calls afterLastAct, which reports whether to continue.
func (s *demoShow) play(ctx context.Context, afterLastAct func() (more bool, err error)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	timer := time.AfterFunc(demoTimeout, func() {
		end(parley.Errorf(parley.TimedOut, "the demo did not finish in time").Suggest("try again when the machine is less busy"))
	})
	defer timer.Stop()
	status, err := s.client.Status(ctx)
	if err != nil {
		return err
	}
	if err := s.beginNext(ctx); err != nil {
		return err
	}
	options := client.EventsOptions{After: status.LastEvent, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}
	for e, err := range s.client.Events(ctx, options) {
		if err != nil || e.Body == nil {
			continue // the stream reconnects by itself
		}
		s.show(ctx, *e.Body)
		if !s.endsAct(*e.Body) {
			continue
		}
		if len(s.acts) > 0 {
			if err := s.beginNext(ctx); err != nil {
				return err
			}
			continue
		}
		timer.Stop()
		if more, err := afterLastAct(); err != nil || !more {
			return err
		}
	}
	return context.Cause(ctx)
}

// beginNext begins the next act.
func (s *demoShow) beginNext(ctx context.Context) (err error) {
	now := s.acts[0]
	s.acts, s.awaitedLines = s.acts[1:], now.ends
	s.printParagraph("── %s ──", now.title)
	s.conversation, err = now.begin(ctx)
	return err
}

// endsAct reports whether a message ends the act.
func (s *demoShow) endsAct(m parley.Message) bool {
	at := slices.IndexFunc(s.awaitedLines, func(l demo.Line) bool {
		return l.From == m.From && m.Conversation == s.conversation && strings.Contains(m.Content.Text, l.Text)
	})
	if at < 0 {
		return false
	}
	s.awaitedLines = slices.Delete(slices.Clone(s.awaitedLines), at, at+1)
	return len(s.awaitedLines) == 0
}

// pendingApproval returns the oldest pending approval.
func (s *demoShow) pendingApproval(ctx context.Context) (parley.Approval, error) {
	page, err := s.client.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending}, client.PageRequest{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return parley.Approval{}, cmp.Or(err, error(parley.Errorf(parley.Internal, "no call needs approval")))
	}
	return page.Items[0], nil
}

func (s *demoShow) approve(ctx context.Context) (conversation string, err error) {
	approval, err := s.pendingApproval(ctx)
	if err == nil {
		_, err = s.client.Decide(ctx, approval.ID, parley.Decision{Approve: true})
	}
	return approval.Conversation, err
}

// printThingsToTry prints commands for the user to try.
func (s *demoShow) printThingsToTry(ctx context.Context, dir home.Dir, hub *server.Server) error {
	approval, err := s.pendingApproval(ctx)
	if err != nil {
		return err
	}
	link := ""
	if isTerminal(s.err) { // a log would keep the link where others can read it
		if link, err = hub.SignInLink(ctx); err != nil {
			return err
		}
	}
	s.printParagraph("%s", thingsToTryText(dir, link, approval.ShortName()))
	return nil
}

// openTasks returns the tasks that have not ended.
func openTasks(p tasktree.Snapshot) []parley.TaskView {
	return slices.DeleteFunc(slices.Clone(p.Tasks), func(t parley.TaskView) bool { return t.Status.Ended() })
}

// callbackSource is the source of messages that bring the result of a delegation.
const callbackSource = "delegation_result"

// show prints a message. If the message changed the tree of its task, it also prints the tree.
func (s *demoShow) show(ctx context.Context, m parley.Message) {
	s.print(ctx, m)
	if m.Task == "" {
		return
	}
	task, err := s.client.Task(ctx, m.Task)
	if err != nil {
		return // the task was removed
	}
	snapshot, err := (&treeSource{client: s.client, task: task.Root}).Load(ctx)
	if err != nil || !snapshot.Ended() && (m.Source != callbackSource || len(openTasks(snapshot)) == 1) {
		return // if only the root is open, the next message ends it
	}
	for _, line := range tasktree.Draw(snapshot, tasktree.Options{Zone: time.Local}) {
		_, _ = fmt.Fprintf(s.out, "  %s\n", line)
	}
	_, _ = fmt.Fprintln(s.out)
}

// print prints the place, the sender and the time of a message, and below them its text.
func (s *demoShow) print(ctx context.Context, m parley.Message) {
	name := cmp.Or(s.names[m.From], m.From)
	if s.colours() {
		name = "\x1b[1;36m" + name + "\x1b[0m"
	}
	_, _ = fmt.Fprintf(s.out, "%s  %s  %s\n", oneLine(s.placeName(ctx, m.Conversation)), name, m.CreatedAt.Local().Format(time.TimeOnly))
	for line := range strings.Lines(plain.Text(cmp.Or(m.Content.Text, messageBody(m)))) {
		_, _ = fmt.Fprintln(s.out, strings.TrimRight("  "+line, " \n"))
	}
	_, _ = fmt.Fprintln(s.out)
}

// placeName returns the name of a channel, or the members of a conversation without a name.
func (s *demoShow) placeName(ctx context.Context, id string) string {
	if known, ok := s.titles[id]; ok {
		return known
	}
	view, err := s.client.Conversation(ctx, id)
	title := view.Title()
	switch {
	case err != nil:
		return id
	case view.Name == "":
		for i, member := range view.Members {
			view.Members[i] = cmp.Or(s.names[member], member)
		}
		title = strings.Join(view.Members, " ↔ ")
	}
	s.titles[id] = title
	return title
}

// printParagraph prints a paragraph on standard error, followed by an empty line.
func (a *app) printParagraph(format string, args ...any) {
	_, _ = fmt.Fprintf(a.err, format+"\n\n", args...)
}

// thingsToTryText returns commands to type in another terminal while the demo runs.
func thingsToTryText(dir home.Dir, link, approval string) string {
	program, path := programCall(os.Args[0])
	parley := func(words string) string { return "  " + shellWord(program) + " " + words + "\n" }
	var b strings.Builder
	b.WriteString("Now try it yourself. In another terminal:\n\n" + path + "  export PARLEY_HOME=" + shellWord(string(dir)) + "\n")
	if os.Getenv("PARLEY_URL") != "" || os.Getenv("PARLEY_TOKEN") != "" {
		b.WriteString("  unset PARLEY_URL PARLEY_TOKEN\n") // these variables would name another hub
	}
	for _, part := range []struct {
		purpose  string
		commands []string
	}{
		{"approve the question of InternBot", []string{"approval list", "approval approve " + approval}},
		{"ask for figures, and wait for the answer", []string{`ask databot "What was our Q4 revenue?"`}},
		{"delegate work, and see its tasks", []string{`delegate coordinatorbot "Prepare Q4 report"`, "task tree"}},
		{"chat with one agent", []string{"chat coordinatorbot"}},
		{"mention two agents in a channel", []string{`chat --conv project-alpha "@DataBot @AnalystBot how was Q4?"`}},
		{"see the agents, and what happens", []string{"who", "top", "watch", "search revenue"}},
		{"give WriterBot twenty seconds of work, and see its run", []string{`send writerbot "draft a blog post"`, "agent runs --live", "agent show writerbot", "agent runs"}},
		{"make two agents wake each other until the hub stops them, and let them continue", []string{
			`chat --conv project-alpha "@DataBot loop"`, "agent resume-pair databot analystbot",
		}},
		{"see whether an agent may contact another, and why", []string{"permit check internbot senioranalystbot"}},
		{"see a failed attempt and its retry", []string{`send internbot "a coffee, please" --wait`}},
		{"pause an agent: its messages wait", []string{"agent pause databot --reason lunch", `send databot hello`, "agent resume databot"}},
	} {
		b.WriteString("\n  # " + part.purpose + "\n")
		for _, command := range part.commands {
			b.WriteString(parley(command))
		}
	}
	if link == "" {
		b.WriteString("\n  # create a link that signs you in to the web page\n" + parley("sign-in"))
	} else {
		b.WriteString("\nThis link signs you in to the web page. It works once, for ten minutes:\n  " + link + "\n")
	}
	return b.String() + "\nCtrl-C ends the demo and removes everything."
}

// programCall returns how to call this program in another terminal, and the line that extends the PATH for it.
func programCall(called string) (program, export string) {
	path, err := filepath.Abs(called)
	if filepath.Base(called) == called || err != nil {
		return called, "" // found by the PATH
	}
	return filepath.Base(path), "  export PATH=" + shellWord(filepath.Dir(path)) + ":$PATH\n"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./~+-]+$`)

// shellWord quotes a text as one word of a shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
