// Typecheck checks the types of this module and its tests as another operating system would compile them:
//
//	go run ./internal/typecheck darwin
//
// go vet would first compile every dependency for that system, which takes minutes with an empty cache. Typecheck reads only the
// declarations of the dependencies.
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
			continue // a main package of tests, which go list has generated outside the module
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
