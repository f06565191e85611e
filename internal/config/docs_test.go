package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const (
	docs  = "../../docs/configuration.md"
	begin = "<!-- keys: written by go test ./internal/config -update -->\n"
	end   = "<!-- end of keys -->\n"
)

func TestTheDocumentationNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/configuration.md has no place for the keys")
	}
	want := before + begin + table() + end + after
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatal("docs/configuration.md differs from the keys; run: go test ./internal/config -update")
	}
	if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
	for _, key := range allKeys {
		byDefault := "none"
		if key.Default != "" {
			byDefault = "`" + key.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key.Name, key.Type, byDefault, key.Doc)
	}
	return b.String()
}

// TestThePromiseAboutWaitingNamesItsLimits: the README says when an ask ends, how deep asks go and which cycles are refused.
func TestThePromiseAboutWaitingNamesItsLimits(t *testing.T) {
	defaults := map[string]string{}
	for _, key := range allKeys {
		defaults[key.Name] = key.Default
	}
	wait, err := time.ParseDuration(defaults["ask.wait"])
	if err != nil {
		t.Fatal(err)
	}
	for document, c := range map[string]struct{ from, to, seconds string }{
		"README.md":     {"2. **Nobody waits for ever.**", "\n3. ", "seconds"},
		"docs/tasks.md": {"Three limits keep asks from waiting for ever:", "\n## ", "s"},
	} {
		text, err := os.ReadFile("../../" + document)
		if err != nil {
			t.Fatal(err)
		}
		_, part, _ := strings.Cut(string(text), c.from)
		part, _, _ = strings.Cut(part, c.to)
		for _, want := range []string{
			fmt.Sprintf("%.0f %s", wait.Seconds(), c.seconds), "depth " + defaults["ask.depth"], "cycle", "cannot start another run",
			"attached session", "webhook",
		} {
			if !strings.Contains(strings.Join(strings.Fields(part), " "), want) {
				t.Errorf("%s does not say %q where it says how asks end: %s", document, want, part)
			}
		}
	}
}

// TestDocumentsNameTheDefaults compares the defaults that documents state beside a key, like `alerts.write` (100 ms), with the keys.
func TestDocumentsNameTheDefaults(t *testing.T) {
	defaults := map[string]string{}
	for _, key := range allKeys {
		defaults[key.Name] = key.Default
	}
	shorter := strings.NewReplacer(" ", "", "%", "", "min", "m", "seconds", "s", "minutes", "m", "days", "d")
	compared := 0
	for document, text := range manual(t) {
		for _, found := range regexp.MustCompile("`([a-z_.]+)` \\((\\d[^)]*)\\)").FindAllStringSubmatch(text, -1) {
			want, known := defaults[found[1]]
			if !known {
				continue
			}
			compared++
			if got := shorter.Replace(found[2]); got != want {
				t.Errorf("%s says that %s is %s by default, and it is %s", document, found[1], found[2], want)
			}
		}
	}
	if compared < 8 {
		t.Errorf("only %d defaults were found", compared)
	}
}

// TestDocumentsNameKeysThatExist: what looks like a key of the configuration is one.
func TestDocumentsNameKeysThatExist(t *testing.T) {
	known, sections := map[string]bool{}, map[string]bool{}
	for _, key := range allKeys {
		known[key.Name] = true
		for name := key.Name; strings.Contains(name, "."); {
			name = name[:strings.LastIndexByte(name, '.')]
			known[name], sections[name] = true, true
		}
	}
	for document, text := range manual(t) {
		for _, found := range regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)+)(?:: [^`]*)?`").FindAllStringSubmatch(text, -1) {
			section, _, _ := strings.Cut(found[1], ".")
			if sections[section] && !known[found[1]] && !notKeys[found[1]] {
				t.Errorf("%s names the key %s, which does not exist", document, found[1])
			}
		}
	}
}

// notKeys look like keys, and are entries of the audit log.
var notKeys = map[string]bool{"retention.erase": true}

// TestDocumentedConfigurationCanBeRead loads every config.yaml that a document shows.
func TestDocumentedConfigurationCanBeRead(t *testing.T) {
	read := 0
	for document, text := range manual(t) {
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
			read++
			if _, err := Load(write(t, block[1]), nil, nil); err != nil {
				t.Errorf("%s shows a configuration that is refused: %v\n%s", document, err, block[1])
			}
		}
	}
	if read < 8 {
		t.Errorf("only %d configurations were found", read)
	}
}

// manual is the README and the pages of the manual, by name.
func manual(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/runtimes/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pages[strings.TrimPrefix(filepath.ToSlash(file), "../../")] = string(text)
		}
	}
	return pages
}

// TestTheBoundsOfOneTokenAreTheDefaults compares the table in docs/security.md with the keys it names.
func TestTheBoundsOfOneTokenAreTheDefaults(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## What one token can take\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	named := map[string]bool{}
	for line := range strings.SplitSeq(rest, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.Contains(cells[2], "`") {
			continue
		}
		var defaults []string
		for _, key := range allKeys {
			if strings.Contains(cells[2], "`"+key.Name+"`") {
				defaults, named[key.Name] = append(defaults, key.Default), true
			}
		}
		if bound := strings.ReplaceAll(cells[1], "at once ", ""); bound != strings.Join(defaults, ", ") {
			t.Errorf("%s: docs/security.md says %s, the defaults are %v", cells[0], bound, defaults)
		}
	}
	for _, key := range usageKeys {
		if !named[key.Name] {
			t.Errorf("docs/security.md does not name %s", key.Name)
		}
	}
}
