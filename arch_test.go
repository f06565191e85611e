package parley_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/parley-hub/parley"

// mayImport lists, for each package, the other packages of this module that it may import. A new package needs a line here and a
// row in docs/architecture.md.
var mayImport = map[string][]string{
	"":                                      {},
	"cmd/parley":                            {"internal/cli"},
	"client":                                {""},
	"internal/cli":                          {"", "client", "internal/anima", "internal/bridge", "internal/chat", "internal/config", "internal/connect", "internal/demo", "internal/dialect", "internal/home", "internal/hook", "internal/mcpapi", "internal/peer", "internal/plain", "internal/quote", "internal/server", "internal/tasktree", "internal/top", "internal/tracetree"},
	"internal/chat":                         {"", "internal/plain", "internal/live", "internal/quote"},
	"internal/connect":                      {"", "internal/connect/jsonc", "internal/connect/toml", "internal/home", "plugins"},
	"internal/connect/jsonc":                {},
	"internal/connect/toml":                 {},
	"plugins":                               {},
	"internal/config":                       {""},
	"internal/demo":                         {""},
	"internal/bridge":                       {"", "internal/dialect", "internal/quote"},
	"internal/dialect":                      {"", "internal/schema"},
	"internal/schema":                       {""},
	"internal/anima":                        {""},
	"internal/natslink":                     {"", "internal/dialect", "internal/hub", "internal/service"},
	"internal/dispatch":                     {"", "internal/hub", "internal/service"},
	"internal/home":                         {""},
	"internal/hook":                         {"", "internal/quote"},
	"internal/httpapi":                      {"", "internal/hub", "internal/plain"},
	"internal/httpstream":                   {},
	"internal/hubtest":                      {"", "internal/hub", "internal/pgtest", "internal/storage", "internal/store/postgres", "internal/store/sqlite"},
	"internal/mcpapi":                       {"", "internal/quote", "internal/tools"},
	"internal/modeltest":                    {},
	"internal/notify":                       {"", "internal/hub", "internal/plain", "internal/runtime/command", "internal/runtime/webhook", "internal/service"},
	"internal/observe":                      {},
	"internal/observe/alert":                {"", "internal/hub", "internal/observe/steps", "internal/service"},
	"internal/observe/metrics":              {"", "internal/hub", "internal/observe/steps"},
	"internal/observe/msglog":               {"", "internal/observe/steps"},
	"internal/observe/steps":                {"", "internal/hub"},
	"internal/observe/traces":               {"", "internal/hub", "internal/observe/steps"},
	"internal/peer":                         {""},
	"internal/plain":                        {},
	"internal/prompt":                       {"", "internal/quote"},
	"internal/quote":                        {""},
	"internal/runtime/llm":                  {"", "internal/tools"},
	"internal/runtime/command":              {"", "internal/runtime/rundoc"},
	"internal/live":                         {""},
	"internal/screentest":                   {},
	"internal/runtime/script":               {""},
	"internal/runtime/rundoc":               {""},
	"internal/runtime/webhook":              {"", "internal/runtime/rundoc"},
	"internal/search":                       {""},
	"internal/server":                       serverPackages,
	"internal/service":                      {},
	"internal/tasktree":                     {"", "internal/plain", "internal/live"},
	"internal/top":                          {"", "internal/plain", "internal/live"},
	"internal/store":                        {"", "internal/storage", "internal/store/groupcommit"},
	"internal/tracetree":                    {""},
	"internal/tools":                        {"", "internal/quote"},
	"internal/storage":                      {""},
	"internal/store/blobfs":                 {"", "internal/storage"},
	"internal/store/groupcommit":            {""},
	"internal/store/groupcommit/committest": {""},
	"internal/store/sqlite":                 {"", "internal/storage", "internal/store", "internal/store/blobfs"},
	"internal/store/postgres":               {"", "internal/storage", "internal/store"},
	"internal/store/storetest":              {"", "internal/repeatable", "internal/storage"},
	"internal/pgtest":                       {},
	"internal/pgtest/with":                  {"internal/pgtest"},
	"internal/repeatable":                   {},
	"internal/typecheck":                    {},
	"internal/costtest":                     {},
	"internal/crashtest":                    {},
	"internal/crashtest/victim":             {"", "internal/bridge", "internal/dispatch", "internal/hub", "internal/peer", "internal/storage", "internal/store/sqlite"},
	"internal/walk":                         {"", "internal/bridge", "internal/dispatch", "internal/httpapi", "internal/hub", "internal/peer", "internal/prompt", "internal/runtime/script", "internal/store/sqlite", "internal/tools"},
	"testscript":                            {},
	"bench":                                 benchPackages,
}

// serverPackages lists the packages from which the server builds a hub.
var serverPackages = []string{
	"", "internal/bridge", "internal/config", "internal/dispatch", "internal/home", "internal/httpapi", "internal/httpstream", "internal/hub", "internal/mcpapi", "internal/natslink", "internal/notify", "internal/observe", "internal/observe/alert", "internal/observe/metrics",
	"internal/observe/msglog", "internal/observe/steps", "internal/observe/traces", "internal/peer",
	"internal/prompt", "internal/runtime/command", "internal/runtime/llm", "internal/runtime/script", "internal/runtime/webhook",
	"internal/service", "internal/storage", "internal/store/postgres", "internal/store/sqlite", "internal/tools",
}

// benchPackages lists the packages that the benchmarks measure.
var benchPackages = []string{
	"", "client", "internal/bridge", "internal/dispatch", "internal/home", "internal/httpapi", "internal/httpstream", "internal/hub", "internal/mcpapi", "internal/peer", "internal/pgtest", "internal/prompt",
	"internal/runtime/script", "internal/schema", "internal/storage", "internal/store/postgres", "internal/store/sqlite", "internal/tools",
}

// domainLibraries lists the packages that the domain may import beside the standard library: Unicode's tables.
var domainLibraries = []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"}

func TestImportsPointOneWay(t *testing.T) {
	for _, pkg := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		allowed, known := mayImport[name]
		if name == "internal/hub" || strings.HasPrefix(name, "internal/hub/") {
			continue // see TestThePackagesOfTheHubPointOneWay
		}
		if !known {
			t.Errorf("%s is not in the list of packages", name)
			continue
		}
		for _, imported := range pkg.Imports {
			other, ours := strings.CutPrefix(imported, module)
			if ours && !slices.Contains(allowed, strings.TrimPrefix(other, "/")) {
				t.Errorf("%s must not import %s", pkg.ImportPath, imported)
			}
		}
	}
}

// TestTheArchitecturePageListsThePackages compares the table in docs/architecture.md with mayImport, both ways. The rows of the hub's
// packages are compared in TestTheArchitecturePageListsTheHub.
func TestTheArchitecturePageListsThePackages(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, row := range packageRows.FindAllStringSubmatch(string(text), -1) {
		if row[1] == "hub" || strings.HasPrefix(row[1], "hub/") {
			continue
		}
		name := strings.TrimPrefix(row[1], ".")
		allowed, known := mayImport[name]
		if !known {
			name = "internal/" + name
			allowed, known = mayImport[name]
		}
		if shown[name] {
			t.Errorf("docs/architecture.md has two rows for %s", row[1])
		}
		shown[name] = true
		if !known {
			t.Errorf("docs/architecture.md has a row for %s, which is not a package", row[1])
		}
		if want := mayUse(allowed); row[3] != want {
			t.Errorf("docs/architecture.md says that %s may use %s\nwant %s", row[1], row[3], want)
		}
	}
	for name := range mayImport {
		if !shown[name] {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
	}
}

// packageRows finds the rows of the table in docs/architecture.md: a package, what it holds, and what it may use.
var packageRows = regexp.MustCompile("(?m)^\\| `([^`]+)`[^|]*\\| ([^|]*) \\| ([^|]*) \\|$")

// mayUse returns the cell that the architecture page must have for a list of packages.
func mayUse(packages []string) string {
	if len(packages) == 0 {
		return "nothing"
	}
	var names []string
	for _, name := range slices.Sorted(slices.Values(packages)) {
		if name == "" {
			names = append(names, "the domain")
		} else {
			names = append(names, "`"+strings.TrimPrefix(name, "internal/")+"`")
		}
	}
	return strings.Join(names, ", ")
}

func TestTheDomainIsALeaf(t *testing.T) {
	for _, pkg := range packages(t) {
		if pkg.ImportPath != module {
			continue
		}
		for _, imported := range pkg.Imports {
			library := strings.Contains(strings.Split(imported, "/")[0], ".")
			doesIO := slices.Contains([]string{"os", "net", "net/http", "database/sql", "os/exec"}, imported)
			if library && !slices.Contains(domainLibraries, imported) || doesIO {
				t.Errorf("the domain must not import %s", imported)
			}
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, pkg := range packages(t) {
		if pkg.Doc == "" {
			t.Errorf("%s has no package comment", pkg.ImportPath)
		}
	}
}

// TestPropertiesAreRepeatableInCI checks that every package whose tests use rapid also uses internal/repeatable, so that CI draws
// the same values each time.
func TestPropertiesAreRepeatableInCI(t *testing.T) {
	found := 0
	for _, pkg := range packages(t) {
		if all := slices.Concat(pkg.Imports, pkg.TestImports, pkg.XTestImports); slices.Contains(all, "pgregory.net/rapid") {
			found++
			if repeatable := module + "/internal/repeatable"; pkg.ImportPath != repeatable && !slices.Contains(all, repeatable) {
				t.Errorf("%s uses rapid without %s", pkg.ImportPath, repeatable)
			}
		}
	}
	if found == 0 {
		t.Error("nothing uses rapid: the test shows nothing")
	}
}

type listed struct {
	ImportPath, Doc                    string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) (list []listed) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pkg)
	}
}

// TestEveryCallerHasScopes checks that no package outside of the hub makes a caller without scopes. For the hub, such a caller is
// a part of its own process, which needs no scopes.
func TestEveryCallerHasScopes(t *testing.T) {
	for _, file := range sources(t, ".go") {
		if strings.HasPrefix(file, "internal/hub/") || strings.HasPrefix(file, "internal/hubtest/") ||
			strings.HasPrefix(file, "internal/crashtest/") || strings.HasPrefix(file, "bench/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok || len(made.Elts) == 0 || nameOf(made.Type) != "Caller" {
				return true
			}
			if selected, ok := made.Type.(*ast.SelectorExpr); ok && nameOf(selected.X) == "mcpapi" {
				return true // another type, without rights of its own
			}
			given := map[string]string{}
			for _, e := range made.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					given[nameOf(pair.Key)] = nameOf(pair.Value)
				}
			}
			if _, scoped := given["Scopes"]; !scoped && given["Agent"] != "System" {
				t.Errorf("%s makes a hub.Caller without Scopes", file)
			}
			return true
		})
	}
}

// sources returns the files of the program with these extensions, without its tests.
func sources(t *testing.T, extensions ...string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(entry.Name(), ".") && file != "."
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || entry.Name() == "storetest"):
			return fs.SkipDir
		case slices.Contains(extensions, path.Ext(file)) && !strings.HasSuffix(file, "_test.go"):
			files = append(files, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// nameOf returns the last name in an expression, such as Deliveries in tx.Deliveries().
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CallExpr:
		return nameOf(e.Fun)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

// TestLibcIsTheOneSQLitePins checks that the program uses the version of libc that the SQLite module pins. Only these two
// versions work together, and another module could raise one of them silently.
func TestLibcIsTheOneSQLitePins(t *testing.T) {
	mod, err := exec.Command("go", "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.TrimSpace(string(mod)))
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(text)
	if pinned == nil {
		t.Fatal("modernc.org/sqlite names no libc")
	}
	used, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "modernc.org/libc").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(used)), string(pinned[1]); got != want {
		t.Errorf("modernc.org/libc is %s, SQLite pins %s", got, want)
	}
}

// TestDocumentedCommandsExist checks that every make target and every linked file in the README, in CONTRIBUTING and in some
// pages of the manual exists.
func TestDocumentedCommandsExist(t *testing.T) {
	help, err := exec.Command("make", "--no-print-directory", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for line := range strings.Lines(string(help)) {
		targets[strings.Fields(line)[0]] = true
	}
	for _, target := range []string{"run", "build", "test", "lint", "fmt", "bench", "fuzz", "soak", "clean"} {
		if !targets[target] {
			t.Errorf("make help does not list %s", target)
		}
	}
	for _, doc := range []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/benchmarks.md", "docs/operating.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)").FindAllSubmatch(text, -1) {
			if !targets[string(m[1])] {
				t.Errorf("%s names make %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(path.Dir(doc), string(m[1]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", doc, m[1])
			}
		}
	}
}
