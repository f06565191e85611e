package parley_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A reader cannot tell from these words what a thing is, so names of this project do not use them. CONTRIBUTING.md says what makes a
// good name. Names in a function may use the words of shortScopeWords.
var (
	vagueWords = []string{
		"scene", "deed", "tidings", "landing", "approach", "stray", "homeless", "finder", "stirred", "doubt", "unsettles", "circle",
		"strangers", "haunts", "kit", "rung", "untold", "manieth",
	}
	shortScopeWords = []string{"letter", "told", "whom", "most", "longest", "shortest"} // a limit is a max or a min
)

// clearPhrases contain one of these words and do say what the thing is.
var clearPhrases = []string{"AtMost", "atMost", "DeadLetter", "deadLetter"}

// TestNamesUseNoVagueWords looks at every name in the program and in its tests, and at the names of the files.
func TestNamesUseNoVagueWords(t *testing.T) {
	vague := map[string]string{} // the vague word of each name that was looked at, or ""
	for file, text := range filesEndingWith(t, ".", ".go") {
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(declaredIn(tree), strings.TrimSuffix(path.Base(file), ".go")) {
			if word := wordIn(name, slices.Concat(vagueWords, shortScopeWords)); word != "" {
				t.Errorf("%s: %s has the word %q, which does not say what the thing is", file, name, word)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok {
				word, known := vague[ident.Name]
				if !known {
					word = wordIn(ident.Name, vagueWords)
					vague[ident.Name] = word
				}
				if word != "" {
					t.Errorf("%s: %s has the word %q, which does not say what the thing is", file, ident.Name, word)
				}
			}
			return true
		})
	}
}

// declaredIn returns the names that a file declares outside of functions, with the fields of its types.
func declaredIn(tree *ast.File) (names []string) {
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name.Name)
		case *ast.GenDecl:
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit, *ast.FuncType:
					return false
				case *ast.TypeSpec:
					names = append(names, n.Name.Name)
				case *ast.ValueSpec:
					names = append(names, namesOf(n.Names)...)
				case *ast.Field:
					names = append(names, namesOf(n.Names)...)
				}
				return true
			})
		}
	}
	return names
}

func namesOf(list []*ast.Ident) (names []string) {
	for _, ident := range list {
		names = append(names, ident.Name)
	}
	return names
}

// nameParts finds the words in a name: "maxOpenAsks" is "max", "Open" and "Asks".
var nameParts = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// wordIn returns the first word of a list that is a part of a name, or "".
func wordIn(name string, words []string) string {
	for _, known := range clearPhrases {
		name = strings.ReplaceAll(name, known, "")
	}
	for _, word := range nameParts.FindAllString(name, -1) {
		if word = strings.ToLower(word); slices.Contains(words, word) {
			return word
		}
	}
	return ""
}

// TestNoPackageHasNamesThatDifferOnlyByCase checks that no package has two names that differ only in capital letters.
func TestNoPackageHasNamesThatDifferOnlyByCase(t *testing.T) {
	seen := map[string]string{} // by the directory and the folded name
	for _, file := range sources(t, ".go") {
		for _, name := range namesIn(t, file) {
			place := path.Dir(file) + ": " + strings.ToLower(name)
			if other, known := seen[place]; known && other != name { // the same name is of another operating system
				t.Errorf("%s has %s and %s", path.Dir(file), other, name)
			}
			seen[place] = name
		}
	}
}

// namesIn returns the names that a file declares in its package: functions, types, variables and constants, without methods.
func namesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
