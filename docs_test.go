package parley_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTestsNamedInTheDocumentationExist checks that the documents name only existing tests. docs/security.md names a test for
// each threat, and a test that is renamed or removed must not leave its name there.
func TestTestsNamedInTheDocumentationExist(t *testing.T) {
	tests := namesOfTests(t)
	security := 0
	for path, text := range filesEndingWith(t, "docs", ".md") {
		for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`").FindAllStringSubmatch(text, -1) {
			if !tests[name[1]] {
				t.Errorf("%s names %s, which does not exist", path, name[1])
			}
			if path == filepath.Join("docs", "security.md") {
				security++
			}
		}
		for _, script := range regexp.MustCompile("`(testscript/\\w+\\.txtar)`").FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(script[1]); err != nil {
				t.Errorf("%s names %s, which does not exist", path, script[1])
			}
		}
	}
	if security == 0 {
		t.Error("docs/security.md names no test")
	}
}

// TestMeasuredFiguresSayWhenTheyWereMeasured checks that each measured figure in the documents has the commit and the date of its
// measurement. The page docs/benchmarks.md is exempt, because make bench writes it.
func TestMeasuredFiguresSayWhenTheyWereMeasured(t *testing.T) {
	measured := regexp.MustCompile(`(?i)\d ?[µn]s\b|measured.*\d|\d times what|\d ?×|[\d,]{4,} (\w+ )?a second|\dk?/s\b`)
	when := regexp.MustCompile("commit `[0-9a-f]{7,}`, \\d{4}-\\d{2}-\\d{2}")
	dated := 0
	for path, text := range manual(t) {
		if path == filepath.Join("docs", "benchmarks.md") {
			continue
		}
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			switch paragraph = strings.ReplaceAll(paragraph, "\n", " "); {
			case when.MatchString(paragraph):
				dated++
			case measured.MatchString(paragraph):
				t.Errorf("%s has a measured figure without its commit and date: %s", path, paragraph)
			}
		}
	}
	if dated == 0 {
		t.Error("no figure has a commit and a date: the test shows nothing")
	}
}

// TestCommitsNamedInTheDocumentationExist checks that each commit that the documents name is in the history.
func TestCommitsNamedInTheDocumentationExist(t *testing.T) {
	if shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output(); err != nil || string(shallow) != "false\n" {
		t.Skip("a copy without the whole history cannot show this")
	}
	named := 0
	for path, text := range manual(t) {
		for _, found := range regexp.MustCompile("commit (?:\\| )?`([0-9a-f]{7,40})`").FindAllStringSubmatch(text, -1) {
			named++
			if err := exec.Command("git", "merge-base", "--is-ancestor", found[1], "HEAD").Run(); err != nil {
				t.Errorf("%s names the commit %s, which is not in the history", path, found[1])
			}
		}
	}
	if named == 0 {
		t.Error("no commit is named: the test shows nothing")
	}
}

// TestRoutesNamedInTheDocumentationExist compares the calls that documents name with docs/openapi.json.
func TestRoutesNamedInTheDocumentationExist(t *testing.T) {
	text, err := os.ReadFile("docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`\{[^}]*\}|<[^>]*>|\$\w+`)
	routes := map[string]bool{}
	for route, methods := range api.Paths {
		for method := range methods {
			routes[strings.ToUpper(method)+" "+variable.ReplaceAllString(route, "*")] = true
		}
	}
	named := 0
	for path, text := range manual(t) {
		for _, found := range regexp.MustCompile("(GET|POST|PUT|PATCH|DELETE) (/v1/[^`?\\s,;)]*)").FindAllStringSubmatch(text, -1) {
			named++
			if route := found[1] + " " + variable.ReplaceAllString(strings.TrimSuffix(found[2], "."), "*"); !routes[route] {
				t.Errorf("%s names %s, which does not exist", path, route)
			}
		}
	}
	if named < 5 {
		t.Errorf("only %d calls were found", named)
	}
}

// TestVariablesNamedInTheDocumentationExist checks that the program contains every environment variable that the documents name.
// The program derives the names for keys of the configuration, so the example of such a name is exempt.
func TestVariablesNamedInTheDocumentationExist(t *testing.T) {
	var program strings.Builder
	for path, text := range filesEndingWith(t, ".", ".go") {
		if !strings.HasSuffix(path, "_test.go") {
			program.WriteString(text)
		}
	}
	for path, text := range manual(t) {
		for _, name := range regexp.MustCompile(`\bPARLEY_[A-Z_]*[A-Z]\b`).FindAllString(text, -1) {
			if name != "PARLEY_RATE_PER_SECOND" && !strings.Contains(program.String(), name) {
				t.Errorf("%s names the variable %s, which the program does not know", path, name)
			}
		}
	}
}

// TestLinksInTheDocumentationLead checks that every link to a file of the repository, or to a heading in it, has an existing
// target.
func TestLinksInTheDocumentationLead(t *testing.T) {
	pages := filesEndingWith(t, ".", ".md")
	for file, text := range pages {
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, ":") {
				continue // somewhere else
			}
			to := file
			if target != "" {
				to = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, link[1])
			} else if anchor != "" && !anchors(pages[to])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", file, link[1])
			}
		}
	}
}

// anchors returns the anchors of the headings of a page.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// manual returns the texts of the README and of the pages in docs, by path.
func manual(t *testing.T) map[string]string {
	t.Helper()
	pages := filesEndingWith(t, "docs", ".md")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages["README.md"] = string(text)
	return pages
}

// namesOfTests returns the names of all tests of the repository.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, text := range filesEndingWith(t, ".", "_test.go") {
		for _, name := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(text, -1) {
			names[name[1]] = true
		}
	}
	return names
}

// filesEndingWith returns the texts of the files below a directory whose names have an ending, by path. It leaves out directories
// whose name begins with a dot.
func filesEndingWith(t *testing.T, dir, ending string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ending):
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
