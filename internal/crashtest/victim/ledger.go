package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parley-hub/parley"
)

// A victim prints a line for each thing it was told, in one write once it was told all of it:
//
//	began                          it goes on with the home, whoever was killed there before
//	MESSAGE TEXT                   posted
//	taken AGENT MESSAGE ATTEMPT    before it does anything with it
//	settled AGENT MESSAGE          acknowledged or answered
//
// key is a delivery in it.
type key struct{ agent, message string }

// ledger is what victims have printed on one home.
type ledger struct {
	lives   int
	posted  map[string]string // message → text
	takes   map[key]int       // how often it was taken
	tried   map[key]int       // the attempt at which it was taken last
	settled map[key]bool
}

// readLedger reads it line by line, and refuses one that contradicts itself.
func readLedger(r io.Reader) (*ledger, error) {
	l := &ledger{posted: map[string]string{}, takes: map[key]int{}, tried: map[key]int{}, settled: map[key]bool{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if err := l.add(lines.Text()); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
	}
	return l, lines.Err()
}

func (l *ledger) add(line string) error {
	var (
		k       key
		attempt int
	)
	switch verb, rest, _ := strings.Cut(line, " "); verb {
	case "began":
		l.lives++
		return nil
	case "taken":
		if _, err := fmt.Sscan(rest, &k.agent, &k.message, &attempt); err != nil {
			return err
		}
		return l.take(k, attempt)
	case "settled":
		if _, err := fmt.Sscan(rest, &k.agent, &k.message); err != nil {
			return err
		}
		if l.settled[k] {
			return errors.New("it is settled for the second time")
		}
		l.settled[k] = true
		return nil
	default:
		if rest == "" {
			return errors.New("a broken line")
		}
		l.posted[verb] = rest
		return nil
	}
}

// take notes a take. Every one before it has failed, and each failure counts.
func (l *ledger) take(k key, attempt int) error {
	if l.settled[k] {
		return errors.New("it is taken though it was settled")
	}
	if last, again := l.tried[k]; again && attempt <= last {
		return fmt.Errorf("it is taken at attempt %d after attempt %d", attempt, last)
	}
	l.tried[k] = attempt
	l.takes[k]++
	return nil
}

func say(lines ...string) error {
	_, err := os.Stdout.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

func takenLines(list []parley.Delivery) (lines []string) {
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("taken %s %s %d", d.Recipient, d.Message, d.Attempt))
	}
	return lines
}

func settledLines(list []parley.Delivery) (lines []string) {
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("settled %s %s", d.Recipient, d.Message))
	}
	return lines
}
