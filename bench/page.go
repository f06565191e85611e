package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// The sections of the page, in its order.
const (
	durablePosts    = "Durable posts"
	inboxes         = "Inboxes"
	runsAndContacts = "Runs, asks and delegations"
	eventStreams    = "Events"
	overMCP         = "MCP"
	bridgedFiles    = "Bridges"
	largeHistory    = "History"
	search          = "Search"
	theProgram      = "The program"
)

const (
	pageFile    = "benchmarks.md"
	resultsFile = "benchmarks.json"
)

// result is one line of a table: how Parley compares with a baseline.
type result struct {
	What     string  `json:"what"`
	Parley   string  `json:"parley"`
	Baseline string  `json:"baseline"`
	Ratio    float64 `json:"ratio"`
	Goal     string  `json:"goal"`
	Met      bool    `json:"met"`
}

// section is a table of the page.
type section struct {
	Name    string   `json:"name"`
	Results []result `json:"results"`
}

// report holds everything on the page that is not prose. All of it comes from one run.
type report struct {
	Commit     string    `json:"commit,omitempty"`
	Changed    bool      `json:"changed,omitempty"` // the measured files differed from the commit
	MeasuredAt time.Time `json:"measured_at,omitzero"`
	Took       string    `json:"took,omitempty"`
	Machine    machine   `json:"machine,omitzero"`
	Settings   settings  `json:"settings,omitzero"`
	Sections   []section `json:"sections"`
}

// machine describes the computer of a measurement.
type machine struct {
	System     string `json:"system"`
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	Go         string `json:"go"`
	SQLite     string `json:"sqlite"`
	PostgreSQL string `json:"postgresql"`
	NATS       string `json:"nats"`
}

// settings holds the sizes of the measurements. The page states the settings of its run.
type settings struct {
	Rounds         int    `json:"rounds"`
	Length         string `json:"length"`
	History        int    `json:"history"`
	Conversations  int    `json:"conversations"`
	Words          int    `json:"words"`
	Vocabulary     int    `json:"vocabulary"`
	Body           int    `json:"body"`
	Posters        int    `json:"posters"`
	Partners       int    `json:"partners"`
	Subscribers    int    `json:"subscribers"`
	EventRate      int    `json:"event_rate"`
	EventReaders   int    `json:"event_readers"`
	ScriptedAgents int    `json:"scripted_agents"`
	IdleAgents     int    `json:"idle_agents"`
	BridgeAgents   int    `json:"bridge_agents"`
}

//go:embed benchmarks.md.tmpl
var pageTemplate string

// Table returns the section as a Markdown table. A missed goal is bold.
func (s section) Table() string {
	var b strings.Builder
	b.WriteString("| What | Parley | Baseline | Ratio | Goal | Met |\n|---|---|---|---|---|---|\n")
	for _, r := range s.Results {
		met := "yes"
		if !r.Met {
			met = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f × | %s | %s |\n", r.What, r.Parley, r.Baseline, r.Ratio, r.Goal, met)
	}
	return b.String()
}

// Missed returns the number of missed goals.
func (r report) Missed() (n int) {
	for _, s := range r.Sections {
		for _, r := range s.Results {
			if !r.Met {
				n++
			}
		}
	}
	return n
}

// Lines returns the number of results.
func (r report) Lines() (n int) {
	for _, s := range r.Sections {
		n += len(s.Results)
	}
	return n
}

// page renders the report.
func (r report) page() ([]byte, error) {
	tables := map[string]section{}
	for _, s := range r.Sections {
		tables[s.Name] = s
	}
	page, err := template.New(pageFile).Option("missingkey=error").Funcs(template.FuncMap{
		"table": func(name string) (string, error) {
			s, ok := tables[name]
			if !ok {
				return "", fmt.Errorf("the section %q was not measured", name)
			}
			delete(tables, name)
			return s.Table(), nil
		},
	}).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, err
	}
	for name := range tables {
		return nil, fmt.Errorf("the page does not show the section %q", name)
	}
	return b.Bytes(), nil
}

// write replaces the page and its results in a directory. If it cannot write one of the two files, it changes neither.
func (r report) write(dir string) error {
	page, err := r.page()
	if err != nil {
		return err
	}
	results, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replaceFiles(dir, map[string][]byte{pageFile: page, resultsFile: append(results, '\n')})
}

// replaceFiles writes all files under other names before it renames any of them.
func replaceFiles(dir string, texts map[string][]byte) (err error) {
	staged := map[string]string{}
	defer func() {
		for temporary := range staged {
			if removeErr := os.Remove(temporary); !errors.Is(removeErr, fs.ErrNotExist) {
				err = errors.Join(err, removeErr)
			}
		}
	}()
	for name, text := range texts {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file", filepath.Join(dir, name))
		}
		temporary := filepath.Join(dir, name+".tmp")
		staged[temporary] = filepath.Join(dir, name)
		if err := os.WriteFile(temporary, text, 0o644); err != nil {
			return err
		}
	}
	for temporary, name := range staged {
		if err := os.Rename(temporary, name); err != nil {
			return err
		}
	}
	return nil
}

// readReport reads the results in a directory.
func readReport(dir string) (r report, err error) {
	text, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if err != nil {
		return r, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return r, decoder.Decode(&r)
}

// renderAgain writes the page again from the stored results. Use it after a change of the prose.
func renderAgain(dir string) error {
	r, err := readReport(dir)
	if err != nil {
		return err
	}
	page, err := r.page()
	if err != nil {
		return err
	}
	return replaceFiles(dir, map[string][]byte{pageFile: page})
}
