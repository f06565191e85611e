// Typecheck checks the types of this module, its tests included, as another operating system would compile it:
//
//	go run ./internal/typecheck darwin
//
// go vet would compile every dependency for that system first, which takes minutes with an empty cache. This reads their
// declarations only.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "use: typecheck GOOS")
		os.Exit(2)
	}
	problems, err := check(os.Args[1])
	if err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		fmt.Fprintln(os.Stderr, strings.Join(problems, "\n"))
		os.Exit(1)
	}
}

func check(system string) (problems []string, err error) {
	home, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	list, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, home+string(os.PathSeparator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, "./...")
	for _, p := range list {
		if strings.HasSuffix(p.ID, ".test") {
			continue // go list has generated it, outside the module
		}
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	}
	return problems, err
}

func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is {
			f.Body = nil
		}
	}
}
