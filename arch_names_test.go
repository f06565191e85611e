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

// vagueWords are words that names of this project do not use, because a reader cannot tell from them what the thing is. CONTRIBUTING.md
// says what makes a good name. A limit is a max or a min.
var vagueWords = []string{
	"scene", "deed", "tidings", "landing", "approach", "stray", "homeless", "finder", "stirred", "doubt", "unsettles", "circle",
	"strangers", "haunts", "kit", "letter", "rung", "told", "untold", "manieth", "whom", "most", "longest", "shortest",
}

// clearPhrases contain one of these words and do say what the thing is.
var clearPhrases = []string{"AtMost", "atMost", "DeadLetter", "deadLetter"}

// TestNamesUseNoVagueWords looks at every function, type, field, variable and constant that a file of the program or of its tests
// declares outside of functions, and at the names of the files.
func TestNamesUseNoVagueWords(t *testing.T) {
	for file, text := range filesEndingWith(t, ".", ".go") {
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(declaredIn(tree), strings.TrimSuffix(path.Base(file), ".go")) {
			if word := vagueWord(name); word != "" {
				t.Errorf("%s: %s has the word %q, which does not say what the thing is", file, name, word)
			}
		}
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

func vagueWord(name string) string {
	for _, known := range clearPhrases {
		name = strings.ReplaceAll(name, known, "")
	}
	for _, word := range nameParts.FindAllString(name, -1) {
		if word = strings.ToLower(word); slices.Contains(vagueWords, word) {
			return word
		}
	}
	return ""
}
