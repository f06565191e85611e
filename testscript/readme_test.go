package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlocks are the commands a document tells its reader to type.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestReadme types what the README says, in the order in which it says it.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range shellBlocks.FindAllStringSubmatch(string(readme), -1) {
		script.WriteString(block[1])
	}
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "PARLEY_ADDR=127.0.0.1:0", "PARLEY_HOME=", "PARLEY_STORE=")
	t.Cleanup(func() {
		stop := exec.Command("parley", "down") // where the commands did not come that far
		stop.Env = env
		_ = stop.Run()
	})
	reader := exec.Command("sh", "-eux")
	reader.Stdin, reader.Env, reader.Dir = strings.NewReader(script.String()), env, home
	out, err := reader.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, shown := range []string{
		"Hello, user. You said “hello there”.", "created  #project-x", "accepted  arya", "accepted  gendry", "thoughts on streaming?", "green since Tuesday", "answered",
		`"text":"done"`, "stopped",
	} {
		if !strings.Contains(string(out), shown) {
			t.Errorf("nothing shows %q in:\n%s", shown, out)
		}
	}
}
