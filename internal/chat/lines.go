package chat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
	"github.com/parley-hub/parley/internal/quote"
)

// maxLine is the longest line of input. A message is shorter.
const maxLine = 1 << 20

// Print prints one message.
type Print func(out io.Writer, m parley.Message) error

// PrintLine returns a Print for lines: the time in a format, the sender and the text. It indents the text after its
// first line.
func PrintLine(form string, zone *time.Location) Print {
	return func(out io.Writer, m parley.Message) error {
		text := strings.TrimSuffix(messageText(m), "\n")
		if text == "" {
			text = m.Content.Code
		}
		text = strings.ReplaceAll(plain.Text(text), "\n", "\n    ")
		_, err := fmt.Fprintf(out, "%s %s: %s\n", m.CreatedAt.In(zone).Format(form), plain.Line(m.From), text)
		return err
	}
}

// messageText returns the text of a message. In a message of the hub, it marks the words of others.
func messageText(m parley.Message) string {
	if m.From == parley.System {
		return quote.Shown(m.Wording().Map(plain.Text))
	}
	return m.Content.Text
}

// PrintJSON prints a message as one line of JSON.
func PrintJSON(out io.Writer, m parley.Message) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return err
	}
	_, err := out.Write(plain.JSON(text.Bytes()))
	return err
}

// Lines posts each line that it reads, and prints new messages, until the input ends. Then it prints the messages that
// have come by then.
func Lines(ctx context.Context, conversation Conversation, in io.Reader, out io.Writer, print Print) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := lineChat{conversation: conversation, out: out, print: print}
	if err := l.skipHistory(ctx); err != nil {
		return err
	}
	typed := make(chan string)
	var inputErr error // why the input ended; set before the channel is closed
	go func() {
		defer close(typed)
		inputErr = readLines(ctx, in, typed)
	}()
	arrived := make(chan struct{}, 1)
	followEnded := make(chan error, 1)
	go func() { followEnded <- conversation.Follow(ctx, arrivalReporter(arrived)) }()
	for {
		select {
		case line, more := <-typed:
			if !more {
				return errors.Join(inputErr, retryTemporary(ctx, l.printNew))
			}
			if err := l.post(ctx, line); err != nil {
				return err
			}
		case <-arrived:
			if err := retryTemporary(ctx, l.printNew); err != nil {
				return err
			}
		case err := <-followEnded:
			return errors.Join(err, ctx.Err())
		}
	}
}

func readLines(ctx context.Context, in io.Reader, typed chan<- string) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		select {
		case typed <- scanner.Text():
		case <-ctx.Done():
			return nil
		}
	}
	if err := scanner.Err(); err != nil {
		return parley.Errorf(parley.BadInput, "cannot read the input: %w", err).Suggest("send shorter lines, or use parley send -")
	}
	return nil
}

// arrivalReporter returns a function that reports signals of new messages on a channel, once for any number of them.
func arrivalReporter(arrived chan<- struct{}) func(Signal) {
	return func(s Signal) {
		if s.Kind != Connected && s.Event.Kind != parley.EventMessagePosted {
			return
		}
		select {
		case arrived <- struct{}{}:
		default:
		}
	}
}

// lineChat is a chat without a screen.
type lineChat struct {
	conversation Conversation
	out          io.Writer
	print        Print
	after        int64 // seq of the last printed message
}

// skipHistory skips earlier messages.
func (c *lineChat) skipHistory(ctx context.Context) error {
	list, err := c.conversation.Page(ctx, parley.Page{Limit: 1})
	for _, m := range list {
		c.after = m.Seq
	}
	return err
}

func (c *lineChat) post(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	draft := parley.Draft{Content: parley.Content{Text: text}, IdempotencyKey: uuid.NewString()}
	return retryTemporary(ctx, func(ctx context.Context) error {
		_, err := c.conversation.Post(ctx, draft)
		return err
	})
}

// printNew prints new messages.
func (c *lineChat) printNew(ctx context.Context) error {
	for {
		list, err := c.conversation.Page(ctx, parley.Page{Forward: true, After: c.after, Limit: nextPage})
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := c.print(c.out, m); err != nil {
				return err
			}
			c.after = m.Seq
		}
		if len(list) == 0 {
			return nil
		}
		if err := c.conversation.MarkShown(ctx, list); err != nil {
			return err
		}
	}
}

// retryTemporary repeats a call while the hub is unavailable or busy.
func retryTemporary(ctx context.Context, do func(context.Context) error) error {
	pause := shortPause
	for attempts := 1; ; attempts++ {
		err := do(ctx)
		if err == nil || !isTemporary(err) || attempts >= maxAttempts && !errors.Is(err, ErrUnreachable) {
			return err
		}
		select {
		case <-time.After(max(pause, parley.AsError(err).RetryAfter)):
		case <-ctx.Done():
			return err
		}
		pause = min(2*pause, longPause)
	}
}
