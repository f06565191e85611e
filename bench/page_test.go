package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// madeUp returns a report with one line in every section. One goal is missed.
func madeUp() report {
	r := report{
		Commit: "0123456789ab", MeasuredAt: time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC), Took: "12m3s",
		Machine:  machine{System: "linux/amd64", Processor: "Abacus 3000", Cores: 2, Go: "go1.26", SQLite: "3.1", PostgreSQL: "17.1", NATS: "2.1"},
		Settings: settings{Rounds: 5, Length: "2s", History: 200_000, Posters: 64, Body: 512},
	}
	for _, p := range parts(context.Background(), options{}, nil, nil) {
		if n := len(r.Sections); n > 0 && r.Sections[n-1].Name == p.section {
			continue
		}
		r.Sections = append(r.Sections, section{p.section, []result{
			atLeast(0.7, result{What: "the part " + p.name, Parley: "9000/s", Baseline: "10000/s", Ratio: 0.9}),
		}})
	}
	r.Sections[0].Results[0] = atLeast(0.7, result{What: "posts", Parley: "5000/s", Baseline: "10000/s", Ratio: 0.5})
	return r
}

func TestThePageShowsTheRun(t *testing.T) {
	page, err := madeUp().page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| commit | `0123456789ab` |\n", "| date | 2026-11-18 09:30 UTC; the run took 12m3s |", "Abacus 3000, 2 cores, linux/amd64",
		"go1.26, SQLite 3.1, PostgreSQL 17.1, NATS 2.1", "| rounds | 5 of 2s;", "| goals | 1 of 9 missed, in bold |",
		"| posts | 5000/s | 10000/s | 0.50 × | ≥ 0.7 × | **no** |", "| the part takes | 9000/s | 10000/s | 0.90 × | ≥ 0.7 × | yes |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(string(page), "no figures") {
		t.Error("a page with figures says that it has none")
	}
}

func TestThePageSaysThatFilesWereChanged(t *testing.T) {
	r := madeUp()
	r.Changed = true
	page, err := r.page()
	if err != nil || !strings.Contains(string(page), "`0123456789ab`, **with uncommitted changes** |") {
		t.Errorf("%v:\n%s", err, page)
	}
}

func TestAPageWithoutASectionIsRefused(t *testing.T) {
	missing, unknown := madeUp(), madeUp()
	missing.Sections = missing.Sections[1:]
	unknown.Sections = append(unknown.Sections, section{Name: "Weather"})
	for what, r := range map[string]report{"a section is missing": missing, "a section is unknown": unknown} {
		if page, err := r.page(); err == nil {
			t.Errorf("%s, and the page is\n%s", what, page)
		}
	}
}

// TestTheProseOfThePageHasNoFigures checks that every figure of the page comes from the results of a run.
func TestTheProseOfThePageHasNoFigures(t *testing.T) {
	prose := regexp.MustCompile(`(?s)\{\{.*?\}\}`).ReplaceAllString(pageTemplate, "")
	prose = regexp.MustCompile("p50|p99|that 99 of 100|`/v1`").ReplaceAllString(prose, "")
	for line := range strings.Lines(prose) {
		if strings.ContainsAny(line, "0123456789") {
			t.Errorf("the template has a figure of its own: %s", line)
		}
	}
}

// TestTheBenchmarkPageMatchesItsResults renders the results again and compares them with the page. It fails if somebody has
// changed a figure by hand.
func TestTheBenchmarkPageMatchesItsResults(t *testing.T) {
	r, err := readReport(filepath.Join("..", "docs"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "docs", pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("docs/%s is not what `go run ./bench -render` writes from docs/%s: figures come from a run, prose from bench/benchmarks.md.tmpl",
			pageFile, resultsFile)
	}
}

func TestAWholeRunWritesPageAndResults(t *testing.T) {
	dir := t.TempDir()
	if err := run(options{out: dir}, known, madeUpParts(nil)); err != nil {
		t.Fatal(err)
	}
	r, err := readReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Commit != "0123456789ab" || r.Lines() != len(madeUpParts(nil)) || r.Took == "" {
		t.Errorf("the results are %+v", r)
	}
	want, err := r.page()
	if got := contents(t, dir)[pageFile]; err != nil || got != string(want) {
		t.Errorf("%v: the page is\n%s\nwant\n%s", err, got, want)
	}
	if list := contents(t, dir); len(list) != 2 {
		t.Errorf("the directory holds %v", list)
	}
}

func TestARunThatIsNotWholeWritesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		o     options
		facts func() (report, error)
		fails error
		ok    bool
	}{
		"a part of it":           {o: options{only: "takes"}, facts: known, ok: true},
		"a part that fails":      {facts: known, fails: errors.New("disk full")},
		"nothing of that name":   {o: options{only: "weather"}, facts: known},
		"a commit nobody knows":  {facts: func() (report, error) { return report{}, errors.New("no git") }},
		"a directory not usable": {facts: known, o: options{out: "missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before := map[string]string{pageFile: "old page", resultsFile: "{}"}
			for file, text := range before {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.o.out = filepath.Join(dir, c.o.out)
			if err := run(c.o, c.facts, madeUpParts(c.fails)); (err == nil) != c.ok {
				t.Errorf("the run ends with %v", err)
			}
			if after := contents(t, dir); len(after) != 2 || after[pageFile] != before[pageFile] || after[resultsFile] != before[resultsFile] {
				t.Errorf("the directory holds %v", after)
			}
		})
	}
}

// TestPageAndResultsChangeTogether checks that neither file changes if one of the two cannot be replaced.
func TestPageAndResultsChangeTogether(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, pageFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := madeUp().write(dir); err == nil {
		t.Error("a directory was replaced by the page")
	}
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err == nil {
		t.Error("the results were written without the page")
	}
}

func TestTheRunKnowsItsCommit(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) string {
		t.Helper()
		args = append([]string{"-c", "user.name=arya", "-c", "user.email=arya@winterfell.example"}, args...)
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if _, _, err := commit(t.Context()); err == nil {
		t.Error("a commit is known outside of a repository")
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	head := git("rev-parse", "HEAD")
	for _, step := range []struct {
		file    string
		changed bool
	}{{"docs/benchmarks.md", false}, {"docs/benchmarks.json", false}, {"bench/main.go", true}} {
		if err := os.MkdirAll(filepath.Dir(step.file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(step.file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", step.file)
		id, changed, err := commit(t.Context())
		if err != nil || changed != step.changed || !strings.HasPrefix(head, id) || len(id) != 12 {
			t.Errorf("with %s changed, the commit is %q (%t), want %.12s (%t): %v", step.file, id, changed, head, step.changed, err)
		}
	}
}

func known() (report, error) {
	r := madeUp()
	r.Sections = nil
	return r, nil
}

// madeUpParts returns all parts with functions that measure nothing. The last part returns the given error.
func madeUpParts(fails error) []part {
	list := parts(context.Background(), options{}, nil, nil)
	for i := range list {
		list[i].measure = func() ([]result, error) {
			return []result{atMost(1, result{What: list[i].name, Parley: "1ms", Baseline: "2ms", Ratio: 0.5})}, nil
		}
	}
	list[len(list)-1].measure = func() ([]result, error) {
		return []result{{What: "last", Goal: "< 1 s", Met: true}}, fails
	}
	return list
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}
