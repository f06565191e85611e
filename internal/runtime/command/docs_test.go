package command

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/parley-hub/parley"
)

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/runtimes/command.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheDocumentNamesEveryPresetAsItIs(t *testing.T) {
	text := readDocs(t)
	for name, preset := range Presets() {
		if call := "`" + strings.Join(preset.Argv, " ") + "`"; !strings.Contains(text, "| `"+name+"`") || !strings.Contains(text, call) {
			t.Errorf("%s: the document has no %s", name, call)
		}
	}
	for _, name := range alwaysPassed {
		known := slices.Contains([]string{"certificates", "proxies"}, kindOf(name))
		if !known && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the document does not say that %s is passed on", name)
		}
	}
}

// The document names the versions of the clients that the tests run.
func TestTheDocumentNamesTheClientsThatWereRun(t *testing.T) {
	pinned, err := os.ReadFile("clients/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var packages struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(pinned, &packages); err != nil || len(packages.Dependencies) != len(recorded) {
		t.Fatalf("%v: %v", err, packages)
	}
	text := readDocs(t)
	for name, version := range packages.Dependencies {
		if !strings.Contains(text, " "+version) {
			t.Errorf("the document does not say that %s %s was run", name, version)
		}
	}
}

func kindOf(name string) string {
	switch upper := strings.ToUpper(name); {
	case strings.HasSuffix(upper, "_PROXY"):
		return "proxies"
	case strings.Contains(upper, "CERT"):
		return "certificates"
	default:
		return name
	}
}

// The document's example of a configured program works.
func TestTheExampleOfTheDocumentRuns(t *testing.T) {
	example := regexp.MustCompile("(?s)## Programs of your own.*?```yaml\n(.*?)```").FindStringSubmatch(readDocs(t))
	var config struct {
		Runtimes yaml.MapSlice `yaml:"runtimes"`
	}
	if err := yaml.Unmarshal([]byte(example[1]), &config); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(config.Runtimes)
	if err != nil {
		t.Fatal(err)
	}
	presets, err := ParsePresets(text)
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, presets, "wordcount", fakeClient{}, Options{})
	b.triggers = []parley.Message{{ID: "m-1", From: "user", Content: parley.Content{Text: "one two three"}}}
	if result := mustRun(t, b); result.Text != "3" {
		t.Errorf("the answer is %q", result.Text)
	}
	if claude := presets["claude"]; claude.Env["MAX_THINKING_TOKENS"] != "8000" || len(claude.Env) != 3 || claude.Argv[0] != "claude" {
		t.Errorf("claude has become %+v", claude)
	}
}
