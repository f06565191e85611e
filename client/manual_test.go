package client_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// manualFrame is what the programs of the manual stand in.
const manualFrame = `package manual

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

var _, _ = errors.New, fmt.Println

func answer(m parley.Message) string { return m.Content.Text }
`

// TestTheManualCompiles checks the types of every program in docs/client.md.
func TestTheManualCompiles(t *testing.T) {
	manual, err := os.ReadFile("../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	source.WriteString(manualFrame)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(manual, -1)
	if len(blocks) == 0 {
		t.Fatal("docs/client.md shows no program")
	}
	for i, block := range blocks {
		given := "c *client.Client, "
		if bytes.Contains(block[1], []byte("client.New(")) {
			given = ""
		}
		fmt.Fprintf(&source, "\nfunc program%d(%sctx context.Context) error {\n%s\nreturn nil\n}\n", i, given, block[1])
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "docs/client.md", source.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	check := types.Config{
		Importer: importer.ForCompiler(fset, "gc", exported(t)),
		Error: func(err error) {
			if wrong, ok := errors.AsType[types.Error](err); !ok || !wrong.Soft { // a variable that is not used is soft
				t.Error(err)
			}
		},
	}
	_, _ = check.Check("manual", fset, []*ast.File{file}, nil) // Error is told of everything
}

// exported finds what the compiler has written down of each package.
func exported(t *testing.T) importer.Lookup {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".", "errors", "fmt").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return func(name string) (io.ReadCloser, error) { return os.Open(files[name]) }
}
