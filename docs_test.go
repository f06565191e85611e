package parley_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTestsNamedInTheDocumentationExist: docs/security.md claims that each threat has a test. A test that was renamed or
// removed must not leave its name there.
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

// namesOfTests finds the names of all tests of the repository.
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

// filesEndingWith reads the files below a directory, by their paths. Directories whose name begins with a dot are left out.
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
