package parley_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hubOrder lists the packages of the hub. Each package may import the packages before it, and no other packages of the hub.
// docs/architecture.md has the same list.
var hubOrder = []string{
	"local", "index", "unit", "agents", "access", "conversations", "trees", "deliveries",
	"sessions", "runs", "tasks", "policy", "waits", "presence", "approvals", "notices", "alerts",
	"artifacts", "names", "messages", "reports", "work", "assignment", "holding", "post",
	"memory", "inbox", "clients", "turns", "contact", "delegation", "channels", "reading", "feed", "archive",
	"departures", "arrivals", "roster", "bridges", "decisions", "outcomes", "upkeep",
}

// hubLibraries lists, for a package of the hub, the packages outside of the hub that it may import beside the root package and
// internal/storage.
var hubLibraries = map[string][]string{
	"":        {"internal/service"},
	"feed":    {"internal/service"},
	"index":   {"internal/search"},
	"memory":  {"internal/search"},
	"post":    {"internal/schema"},
	"reading": {"internal/search"},
}

// maxLines is the largest number of lines of a package of the hub, without its tests.
const maxLines = 3000

const hubDir = "internal/hub"

func TestThePackagesOfTheHubPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, pkg := range packages(t) {
		name, ok := strings.CutPrefix(pkg.ImportPath+"/", module+"/"+hubDir+"/")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "/")
		place := slices.Index(hubOrder, name)
		if name == "" {
			place = len(hubOrder)
		}
		if place < 0 {
			t.Errorf("%s is not in the order of the hub's packages", pkg.ImportPath)
			continue
		}
		seen[name] = true
		for _, imported := range pkg.Imports {
			other, ours := strings.CutPrefix(imported, module)
			other = strings.TrimPrefix(other, "/")
			if !ours || other == "" || other == "internal/storage" || slices.Contains(hubLibraries[name], other) {
				continue
			}
			if at := slices.Index(hubOrder, strings.TrimPrefix(other, hubDir+"/")); at < 0 || at >= place {
				t.Errorf("%s must not import %s", pkg.ImportPath, imported)
			}
		}
	}
	for _, name := range hubOrder {
		if !seen[name] {
			t.Errorf("%s is in the order of the hub's packages and does not exist", name)
		}
	}
}

// TestTheArchitecturePageListsTheHub compares the rows of the hub in docs/architecture.md with hubOrder, with hubLibraries and with
// the comments of the packages.
func TestTheArchitecturePageListsTheHub(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	holds := map[string]string{}
	for _, pkg := range packages(t) {
		if name, ok := strings.CutPrefix(pkg.ImportPath, module+"/"+hubDir+"/"); ok {
			sentence, _, _ := strings.Cut(pkg.Doc, ". ") // the first, as go list gives it
			holds[name] = strings.TrimPrefix(sentence, "Package "+name+" holds ")
		}
	}
	var listed []string
	for _, row := range packageRows.FindAllStringSubmatch(string(text), -1) {
		name, inHub := strings.CutPrefix(row[1]+"/", "hub/")
		if !inHub {
			continue
		}
		name = strings.TrimSuffix(name, "/")
		listed = append(listed, name)
		if want := strings.TrimSuffix(holds[name], "."); name != "" && row[2] != want {
			t.Errorf("docs/architecture.md says that %s holds %q\nwant %q", row[1], row[2], want)
		}
		want := "hub packages above"
		if libraries := hubLibraries[name]; len(libraries) > 0 {
			want += ", " + mayUse(libraries)
		}
		if row[3] != want {
			t.Errorf("docs/architecture.md says that %s may use %q\nwant %q", row[1], row[3], want)
		}
	}
	if want := append(slices.Clone(hubOrder), ""); !slices.Equal(listed, want) {
		t.Errorf("docs/architecture.md lists the packages %q\nwant %q", listed, want)
	}
}

func TestNoPackageOfTheHubIsTooLong(t *testing.T) {
	lines := map[string]int{}
	for _, file := range sources(t, ".go") {
		if !strings.HasPrefix(file, hubDir+"/") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines[path.Dir(file)] += strings.Count(string(text), "\n")
	}
	for dir, n := range lines {
		if n > maxLines {
			t.Errorf("%s has %d lines, the most is %d", dir, n, maxLines)
		}
	}
}

// setsState finds statements that write a state column.
var setsState = regexp.MustCompile(`(?i)\bset\s+(?:[^;]*?,\s*)?state\s*=`)

// writers says which function writes the rows of a table. The key is the method of the store by which it writes; the value is the
// only function that may call the method.
var writers = map[string]string{
	"Agents.Insert": "agents.InsertRow", "Agents.Put": "agents.Save", "Agents.Retire": "agents.RetireRow", "Agents.PutHealth": "agents.SaveHealth",
	"Conversations.Insert": "conversations.InsertRow", "Conversations.Put": "conversations.Save",
	"Members.Put": "conversations.SaveMember", "Members.Remove": "conversations.TakeOut",
	"Messages.Insert": "messages.InsertRow", "Messages.Redact": "messages.RedactRow",
	"Deliveries.Insert": "deliveries.InsertRows", "Deliveries.Put": "deliveries.Save", "Deliveries.SetPairSeq": "deliveries.CountRow",
	"Runs.Insert": "runs.InsertRow", "Runs.Put": "runs.Save", "Runs.PutOutput": "runs.SaveOutput", "Runs.AddPost": "runs.NotePost",
	"Tasks.Insert": "tasks.InsertRow", "Tasks.Put": "tasks.Save",
	"Waits.Insert": "waits.InsertRow", "Waits.Put": "waits.Save", "Waits.Erase": "waits.EraseRow",
	"Sessions.Insert": "sessions.Add", "Sessions.Put": "sessions.Save", "Sessions.Erase": "sessions.Remove",
	"Approvals.Insert": "approvals.InsertRow", "Approvals.Put": "approvals.Save",
	"Bridges.AddFile": "trees.SaveFile", "Bridges.PutDeparture": "departures.setState",
	"Permissions.Put": "policy.SaveRule", "Permissions.Remove": "policy.Unpermit",
	"Tokens.Insert": "access.InsertToken", "Tokens.Put": "access.SaveToken", "Tokens.Erase": "access.EraseToken",
	"Artifacts.Put": "artifacts.Save",
	"Notes.Insert":  "memory.InsertRow", "Notes.Redact": "memory.redactRow", "Notes.Remove": "memory.removeRow",
}

// steps says which functions may store a changed row of a table with states. These functions either ask the domain whether the
// row may change its state, or do not change the state.
var steps = map[string][]string{
	"deliveries.Save": {"deliveries.Extend", "deliveries.Lease", "deliveries.SetState", "turns.EndLeaseOrPause", "turns.handleDue"},
	"runs.Save":       {"runs.Cancel", "runs.SetProcess", "runs.SetState", "work.giveTask"},
	"waits.Save":      {"contact.resumeAsk", "waits.SetState", "work.Detach", "work.bringAnswer", "work.leave", "work.park"},
}

// TestRowsAreWrittenInOnePlace checks that only one function of the hub writes the rows of a table: the function in writers. It
// also checks that only the functions in steps change rows with states, and that only some files of the store set a state.
func TestRowsAreWrittenInOnePlace(t *testing.T) {
	found, stepped, statements := map[string][]string{}, map[string][]string{}, []string{}
	for _, file := range sources(t, ".go", ".sql") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range setsState.FindAll(text, -1) {
			statements = append(statements, file)
		}
		if strings.HasPrefix(file, hubDir+"/") && strings.HasSuffix(file, ".go") {
			eachCall(t, file, func(function, called string) {
				if _, writes := writers[called]; writes {
					found[called] = append(found[called], function)
				}
				if _, ok := steps[called]; ok {
					stepped[called] = append(stepped[called], function)
				}
			})
		}
	}
	want := []string{"approvals", "deliveries", "departures", "runs", "waits"}
	for i, table := range want {
		want[i] = "internal/store/" + table + ".go"
	}
	if slices.Sort(statements); !slices.Equal(statements, want) {
		t.Errorf("%q set a state, want %q", statements, want)
	}
	for method, owner := range writers {
		if !slices.Equal(found[method], []string{owner}) {
			t.Errorf("%s is called by %q, want %s alone", method, found[method], owner)
		}
	}
	for keep, allowed := range steps {
		callers := slices.Compact(slices.Sorted(slices.Values(stepped[keep])))
		if !slices.Equal(callers, allowed) {
			t.Errorf("%s is called by %q, want %q", keep, callers, allowed)
		}
	}
}

// eachCall calls report for every call in a file, with the function that makes the call and the function that it calls. The
// called function is Table.Method for a method of the store, and package.Function for a function of a package of the hub.
func eachCall(t *testing.T, file string, report func(function, called string)) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch called := call.Fun.(type) {
			case *ast.Ident:
				report(tree.Name.Name+"."+function.Name.Name, tree.Name.Name+"."+called.Name)
			case *ast.SelectorExpr:
				report(tree.Name.Name+"."+function.Name.Name, nameOf(called.X)+"."+called.Sel.Name)
			}
			return true
		})
	}
}

// TestTheCallerOfAUseCaseNeverChanges checks that only package unit assigns to the caller of a unit of work. Other packages use
// unit.As to go on in the name of another participant.
func TestTheCallerOfAUseCaseNeverChanges(t *testing.T) {
	for _, file := range sources(t, ".go") {
		if !strings.HasPrefix(file, hubDir+"/") || strings.HasPrefix(file, hubDir+"/unit/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			assigned, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range assigned.Lhs {
				if selected, ok := left.(*ast.SelectorExpr); ok && (selected.Sel.Name == "Me" || nameOf(selected.X) == "Me") {
					t.Errorf("%s assigns to the caller of a use case", file)
				}
			}
			return true
		})
	}
}
