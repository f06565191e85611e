package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const (
	docs  = "../../docs/configuration.md"
	begin = "<!-- keys: written by go test ./internal/config -update -->\n"
	end   = "<!-- end of keys -->\n"
)

func TestTheDocumentationNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/configuration.md has no place for the keys")
	}
	want := before + begin + table() + end + after
	if string(text) == want {
		return
	}
	if !*update {
		t.Fatal("docs/configuration.md differs from the keys; run: go test ./internal/config -update")
	}
	if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| Key | Value | Default | Meaning |\n|---|---|---|---|\n")
	for _, key := range keys {
		byDefault := "none"
		if key.Default != "" {
			byDefault = "`" + key.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key.Name, key.Type, byDefault, key.Doc)
	}
	return b.String()
}
