package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
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
	for _, key := range keys {
		byDefault := "none"
		if key.Default != "" {
			byDefault = "`" + key.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key.Name, key.Type, byDefault, key.Doc)
	}
	return b.String()
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
		for _, key := range keys {
			if strings.Contains(cells[2], "`"+key.Name+"`") {
				defaults, named[key.Name] = append(defaults, key.Default), true
			}
		}
		if bound := strings.ReplaceAll(cells[1], "at once ", ""); bound != strings.Join(defaults, ", ") {
			t.Errorf("%s: docs/security.md says %s, the defaults are %v", cells[0], bound, defaults)
		}
	}
	for _, key := range loadKeys {
		if !named[key.Name] {
			t.Errorf("docs/security.md does not name %s", key.Name)
		}
	}
}
