package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
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
)

// standupPatience is how long the standup may take.
const standupPatience = time.Minute

// stage is the demo on the terminal: every message as it comes.
type stage struct {
	watcher
	names  map[string]string // of agents
	absent []string          // of the team, who have not spoken in the standup yet
}

// perform makes the company, plays the standup, says what to try, and shows what happens from then on.
func (a *app) perform(ctx context.Context, dir home.Dir, hub *server.Server, once bool) error {
	// As the owner at the socket, whatever tokens the environment has for other hubs.
	c, err := client.New(client.Options{Home: string(dir), Socket: hub.About().Socket, Source: "cli"})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := demo.Stage(ctx, c); err != nil {
		return err
	}
	s := &stage{watcher{app: a, client: c, titles: map[string]string{}}, map[string]string{}, demo.Team()}
	for _, agent := range demo.Agents() {
		s.names[agent.ID] = agent.Name
	}
	a.paragraph("A hub is running in %s, with five agents that follow rules: no key, no network.", dir)
	return s.follow(ctx, func() (more bool, err error) {
		if once {
			return false, nil
		}
		link, err := hub.SignInLink(ctx)
		if err == nil {
			a.paragraph("%s", thingsToTry(dir, link))
		}
		return true, err
	})
}

// follow starts the standup and shows what is said. Once everybody has spoken it calls held, which says
// whether to go on.
func (s *stage) follow(ctx context.Context, held func() (more bool, err error)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	late := time.AfterFunc(standupPatience, func() {
		end(parley.Errorf(parley.TimedOut, "the standup did not come to its end").Suggest("is this machine very busy? Try again"))
	})
	defer late.Stop()
	receipt, err := s.client.Post(ctx, parley.Draft{Conversation: demo.Standup, Content: parley.Content{Text: demo.Kickoff}})
	if err != nil {
		return err
	}
	which := client.EventsOptions{After: receipt.Message.Seq - 1, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}
	for e, err := range s.client.Events(ctx, which) {
		if err != nil || e.Body == nil {
			continue // it connects again by itself
		}
		s.print(ctx, *e.Body)
		if !s.lastToSpeak(*e.Body, receipt.Message.Conversation) {
			continue
		}
		late.Stop()
		if more, err := held(); err != nil || !more {
			return err
		}
	}
	return context.Cause(ctx)
}

// lastToSpeak says whether the standup ends with a message.
func (s *stage) lastToSpeak(m parley.Message, standup string) bool {
	at := slices.Index(s.absent, m.From)
	if at < 0 || m.Conversation != standup {
		return false
	}
	s.absent = slices.Delete(s.absent, at, at+1)
	return len(s.absent) == 0
}

// print shows a message: where, who and when, and under it the text.
func (s *stage) print(ctx context.Context, m parley.Message) {
	name := cmp.Or(s.names[m.From], m.From)
	if s.colours() {
		name = "\x1b[1;36m" + name + "\x1b[0m"
	}
	_, _ = fmt.Fprintf(s.out, "%s  %s  %s\n", oneLine(s.place(ctx, m.Conversation)), name, m.CreatedAt.Local().Format(time.TimeOnly))
	for line := range strings.Lines(plain.Text(cmp.Or(m.Content.Text, body(m)))) {
		_, _ = fmt.Fprintf(s.out, "  %s\n", strings.TrimRight(line, "\n"))
	}
	_, _ = fmt.Fprintln(s.out)
}

// place is the name of a channel, or who is in a conversation without one.
func (s *stage) place(ctx context.Context, id string) string {
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

// paragraph says something that is no message.
func (a *app) paragraph(format string, args ...any) {
	_, _ = fmt.Fprintf(a.err, format+"\n\n", args...)
}

// thingsToTry are commands that work while the demo runs, for another terminal.
func thingsToTry(dir home.Dir, link string) string {
	parley := func(words string) string { return "  " + shellWord(os.Args[0]) + " " + words + "\n" }
	var b strings.Builder
	b.WriteString("Now you. In another terminal:\n\n  export PARLEY_HOME=" + shellWord(string(dir)) + "\n")
	if os.Getenv("PARLEY_URL") != "" || os.Getenv("PARLEY_TOKEN") != "" {
		b.WriteString("  unset PARLEY_URL PARLEY_TOKEN\n") // they would lead to another hub
	}
	for _, part := range []struct {
		what     string
		commands []string
	}{
		{"ask for figures, and wait for the answer", []string{`send databot "What was our Q4 revenue?" --wait`}},
		{"talk to one of them", []string{"chat coordinatorbot"}},
		{"mention two in a channel", []string{`chat --conv project-alpha "@DataBot @AnalystBot how was Q4?"`}},
		{"see who is there, and what happens", []string{"who", "top", "watch", "search revenue"}},
		{"give WriterBot twenty seconds of work, and look at it meanwhile", []string{`send writerbot "draft a blog post"`, "agent runs --live", "agent show writerbot", "agent runs"}},
		{"make two of them call each other until the hub has had enough, and let them begin anew", []string{
			`chat --conv project-alpha "@DataBot loop"`, "agent resume-pair databot analystbot",
		}},
		{"let a first try fail", []string{`send internbot "a coffee, please" --wait`}},
		{"let one pause: what it is sent waits", []string{"agent pause databot --reason lunch", `send databot hello`, "agent resume databot"}},
	} {
		b.WriteString("\n  # " + part.what + "\n")
		for _, command := range part.commands {
			b.WriteString(parley(command))
		}
	}
	return b.String() + "\nThe page signs you in with this link, once, for ten minutes:\n  " + link + "\n\nCtrl-C ends the demo, and removes all of it."
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./~+-]+$`)

// shellWord is a text as one word of a shell.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
