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

// A victim prints a line for each acknowledgement of the hub. It prints the lines of one call in one write, after the call:
//
//	began                          the victim has opened the home
//	MESSAGE TEXT                   the hub has stored the message
//	taken AGENT MESSAGE ATTEMPT    the agent has taken the delivery, and has done nothing else with it yet
//	settled AGENT MESSAGE          the agent has acknowledged or answered the message
//
// key names a delivery in these lines.
type key struct{ agent, message string }

// ledger holds what all victims of one home have printed.
type ledger struct {
	lives       int
	posted      map[string]string // message → text
	takeCount   map[key]int       // how often the delivery was taken
	lastAttempt map[key]int       // the attempt number of the last take
	settled     map[key]bool
}

// readLedger reads the output of victims. It fails if a line contradicts an earlier one.
func readLedger(r io.Reader) (*ledger, error) {
	l := &ledger{posted: map[string]string{}, takeCount: map[key]int{}, lastAttempt: map[key]int{}, settled: map[key]bool{}}
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

// take notes a take. Its attempt number must be higher than that of the take before, because that take has failed.
func (l *ledger) take(k key, attempt int) error {
	if l.settled[k] {
		return errors.New("it is taken though it was settled")
	}
	if last, again := l.lastAttempt[k]; again && attempt <= last {
		return fmt.Errorf("it is taken at attempt %d after attempt %d", attempt, last)
	}
	l.lastAttempt[k] = attempt
	l.takeCount[k]++
	return nil
}

func printLines(lines ...string) error {
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
