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

// demoShow is the demo on the terminal: every message as it comes.
type demoShow struct {
	watcher
	names        map[string]string // of agents
	acts         []demoAct         // still to come
	conversation string            // the conversation of the one that is played
	awaitedLines []demo.Line       // with which that ends
}

// demoAct is a part of the show: what begins it, in which conversation, and what has been said there when it is over.
type demoAct struct {
	title string
	begin func(context.Context) (conversation string, err error)
	ends  []demo.Line
}

// runDemoShow makes the company, plays the show, says what to try, and shows what happens from then on.
func (a *app) runDemoShow(ctx context.Context, dir home.Dir, hub *server.Server, once bool) error {
	// As the owner at the socket, whatever tokens the environment has for other hubs.
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

// planActs says what is played. Who only looks on does not type an approval: it is given for them.
func (s *demoShow) planActs(once bool) {
	for _, scene := range demo.Acts() {
		s.acts = append(s.acts, demoAct{scene.Title, func(ctx context.Context) (string, error) {
			receipt, err := s.client.Post(ctx, scene.Begin)
			return receipt.Message.Conversation, err
		}, scene.Ends})
	}
	if once {
		s.acts = append(s.acts, demoAct{"You approve it", s.approve, []demo.Line{demo.ApprovedLine()}})
	}
}

// play shows what is said, one act after the other. After the last it calls over, which says whether to go on.
func (s *demoShow) play(ctx context.Context, over func() (more bool, err error)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	late := time.AfterFunc(demoTimeout, func() {
		end(parley.Errorf(parley.TimedOut, "the demo did not finish in time").Suggest("is this machine very busy? Try again"))
	})
	defer late.Stop()
	status, err := s.client.Status(ctx)
	if err != nil {
		return err
	}
	if err := s.beginNext(ctx); err != nil {
		return err
	}
	which := client.EventsOptions{After: status.LastEvent, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}
	for e, err := range s.client.Events(ctx, which) {
		if err != nil || e.Body == nil {
			continue // it connects again by itself
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
		late.Stop()
		if more, err := over(); err != nil || !more {
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

// endsAct says whether the act ends with a message.
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

// pendingApproval is the call that waits for somebody's yes.
func (s *demoShow) pendingApproval(ctx context.Context) (parley.Approval, error) {
	page, err := s.client.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending}, client.From{Limit: 1})
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

// printThingsToTry says what to try.
func (s *demoShow) printThingsToTry(ctx context.Context, dir home.Dir, hub *server.Server) error {
	approval, err := s.pendingApproval(ctx)
	if err != nil {
		return err
	}
	link := ""
	if isTerminal(s.err) { // elsewhere it would be kept, for others to read
		if link, err = hub.SignInLink(ctx); err != nil {
			return err
		}
	}
	s.printParagraph("%s", thingsToTryText(dir, link, approval.ShortName()))
	return nil
}

func openTasks(p tasktree.Snapshot) []parley.TaskView {
	return slices.DeleteFunc(slices.Clone(p.Tasks), func(t parley.TaskView) bool { return t.Status.Ended() })
}

// callbackSource is the door of messages that bring the result of a delegation.
const callbackSource = "delegation_result"

// show shows a message, and under it the tree of the task it is part of where that has changed by it.
func (s *demoShow) show(ctx context.Context, m parley.Message) {
	s.print(ctx, m)
	if m.Task == "" {
		return
	}
	task, err := s.client.Task(ctx, m.Task)
	if err != nil {
		return // it is gone, and so is what there would be to show
	}
	picture, err := (&treeSource{client: s.client, task: task.Root}).Load(ctx)
	if err != nil || !picture.Ended() && (m.Source != callbackSource || len(openTasks(picture)) == 1) {
		return // where the root alone is open, it ends with what comes next
	}
	for _, line := range tasktree.Draw(picture, tasktree.Options{Zone: time.Local}) {
		_, _ = fmt.Fprintf(s.out, "  %s\n", line)
	}
	_, _ = fmt.Fprintln(s.out)
}

// print shows a message: where, who and when, and under it the text.
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

// placeName is the name of a channel, or who is in a conversation without one.
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

// printParagraph says something that is no message.
func (a *app) printParagraph(format string, args ...any) {
	_, _ = fmt.Fprintf(a.err, format+"\n\n", args...)
}

// thingsToTryText are commands that work while the demo runs, for another terminal.
func thingsToTryText(dir home.Dir, link, approval string) string {
	program, path := programCall(os.Args[0])
	parley := func(words string) string { return "  " + shellWord(program) + " " + words + "\n" }
	var b strings.Builder
	b.WriteString("Now try it yourself. In another terminal:\n\n" + path + "  export PARLEY_HOME=" + shellWord(string(dir)) + "\n")
	if os.Getenv("PARLEY_URL") != "" || os.Getenv("PARLEY_TOKEN") != "" {
		b.WriteString("  unset PARLEY_URL PARLEY_TOKEN\n") // they would lead to another hub
	}
	for _, part := range []struct {
		what     string
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
		b.WriteString("\n  # " + part.what + "\n")
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

// programCall is how this program is called in another terminal, wherever that is, and the line that makes it so.
func programCall(called string) (program, export string) {
	whole, err := filepath.Abs(called)
	if filepath.Base(called) == called || err != nil {
		return called, "" // found by the PATH
	}
	return filepath.Base(whole), "  export PATH=" + shellWord(filepath.Dir(whole)) + ":$PATH\n"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./~+-]+$`)

// shellWord is a text as one word of a shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
