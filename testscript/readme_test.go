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

// yamlBlocks are the files a document tells its reader to write.
var yamlBlocks = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestReadme types what the README says, in the order in which it says it. Where the README says m29, it types the name that send
// has printed.
func TestReadme(t *testing.T) {
	const asks = "parley send gendry \"is the build green?\"\n"
	script := commandsOf(t, "README.md")
	if strings.Count(script, asks) != 1 || strings.Count(script, " m29") != 2 {
		t.Fatal("the README does not ask gendry, or does not use the name of the question")
	}
	script = strings.NewReplacer(asks, "asked=$("+strings.TrimSpace(asks)+")\necho \"$asked\"\n", " m29", " ${asked##* }").Replace(script)
	shows(t, script,
		"Hello, user. You said “hello there”.", "created  #project-x", "accepted  arya", "accepted  gendry", "thoughts on streaming?",
		"green since Tuesday", "answered",
		"Response from DataBot: Q4 revenue was", "Notification sent to arya.", "This action requires approval. Waiting for approval...",
		"approved  gendry", "allowed with approval  gendry → data",
		`"text":"done"`, "added  agentos-collab", "accepted  builder", "removed  agentos-collab", "stopped")
}

// TestTheReadmeNeedsNoOtherLanguage: a reader types commands of parley and of every system, not programs for awk or jq.
func TestTheReadmeNeedsNoOtherLanguage(t *testing.T) {
	if found := regexp.MustCompile(`\b(awk|sed|jq|grep|cut|python3?|perl)\b`).FindString(commandsOf(t, "README.md")); found != "" {
		t.Errorf("the README needs %s", found)
	}
}

// TestTheReadmeTakesNoNameOfAClient: a name that an example has taken cannot be given to the client it belongs to.
func TestTheReadmeTakesNoNameOfAClient(t *testing.T) {
	clients := regexp.MustCompile(`--agents\s+\S*\b(claude|codex|gemini|opencode|qwen|cursor|amp|goose|aider)\b`)
	for _, document := range []string{"README.md", "docs/bridges.md", "docs/formats.md", "docs/operating.md"} {
		if found := clients.FindString(read(t, document)); found != "" {
			t.Errorf("%s takes the name of a client for good: %s", document, found)
		}
	}
}

// documents are what TestDocuments types, and what is shown then.
var documents = map[string][]string{
	"docs/tasks.md": {
		`task-2: "Publish it" (gendry) — QUEUED  (waits for task-1)`, "active  task-1  arya", "completed  task-1  arya",
		"cancelled  task-2  gendry", "queued  task-2  gendry", "queued  task-2  arya", "attempt             3",
	},
	"docs/permissions.md": {"allowed with approval by a person  arya → user", "allowed  arya → gendry", "denied  arya → *", "removed  arya → gendry"},
	"docs/observing.md":   {"sent    user  gendry  chat", `"status":"sent"`},
	"docs/operating.md":   {"paused  arya", "resumed  arya", "stopped  arya", "started  arya", "resumed  arya  gendry"},
}

// typedElsewhere are documents with commands that tests of their own type.
var typedElsewhere = map[string]string{
	"README.md":                "TestReadme",
	"docs/runtimes/command.md": "TestTheWordcountOfTheDocumentCountsTheMessage",
}

// notTyped are documents with commands of programs that the tests do not have.
var notTyped = map[string]string{
	"docs/nats.md":      "nats ",
	"docs/notifiers.md": "#!/bin/sh\nexec notify-send ",
}

// hubWithTwo starts a hub with two agents and a message.
const hubWithTwo = `
parley up --detach
parley agent add arya
parley agent add gendry
curl -sf --unix-socket "$HOME/.parley/parley.sock" http://localhost/v1/messages \
	--json '{"direct":["gendry"],"trace_id":"nightly-build","content":{"text":"hello"}}'
`

// TestDocuments types what other documents say, at a hub with two agents.
func TestDocuments(t *testing.T) {
	for document, shown := range documents {
		t.Run(document, func(t *testing.T) {
			shows(t, hubWithTwo+commandsOf(t, document)+"parley down\n", shown...)
		})
	}
}

// TestEveryDocumentIsTyped: a command that a document tells its reader to type is typed by a test.
func TestEveryDocumentIsTyped(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			document := strings.TrimPrefix(filepath.ToSlash(file), "../")
			begins, exempt := notTyped[document]
			for _, block := range shellBlocks.FindAllStringSubmatch(read(t, document), -1) {
				_, here := documents[document]
				_, elsewhere := typedElsewhere[document]
				if exempt && !strings.HasPrefix(block[1], begins) || !exempt && !here && !elsewhere {
					t.Errorf("no test types what %s says:\n%s", document, block[1])
				}
			}
		}
	}
}

// TestTheWordcountOfTheDocumentCountsTheMessage writes the config.yaml of the document as a person would, types the
// commands of the document.
func TestTheWordcountOfTheDocumentCountsTheMessage(t *testing.T) {
	_, part, _ := strings.Cut(read(t, "docs/runtimes/command.md"), "## Programs of your own")
	config := yamlBlocks.FindStringSubmatch(part)
	shows(t, "umask 022\nmkdir -m 700 .parley\ncat > .parley/config.yaml <<'END'\n"+config[1]+"END\nparley up --detach\n"+
		commandsOf(t, "docs/runtimes/command.md")+
		"test \"$(parley send counter 'one two three' --wait)\" = 3\n"+
		"parley ask counter 'one two three'\nparley delegate counter 'one two' --wait\nparley down\n",
		"Response from counter: 3", "Response from counter: 2")
}

func read(t *testing.T, document string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", document))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func commandsOf(t *testing.T, document string) string {
	t.Helper()
	text := read(t, document)
	var script strings.Builder
	for _, block := range shellBlocks.FindAllStringSubmatch(text, -1) {
		script.WriteString(block[1])
	}
	return script.String()
}

// shows types commands in a home of their own, and requires that they succeed and show each of these texts. It returns all
// that they show.
func shows(t *testing.T, script string, texts ...string) string {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "PARLEY_ADDR=127.0.0.1:0", "PARLEY_HOME=", "PARLEY_STORE=")
	t.Cleanup(func() {
		stop := exec.Command("parley", "down") // where the commands did not come that far
		stop.Env = env
		_ = stop.Run()
	})
	reader := exec.Command("sh", "-eux")
	reader.Stdin, reader.Env, reader.Dir = strings.NewReader(script), env, home
	out, err := reader.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			t.Errorf("nothing shows %q in:\n%s", text, out)
		}
	}
	return string(out)
}

// TestEveryFileOfAHomeIsDocumented compares what is in a home with the table in docs/operating.md.
func TestEveryFileOfAHomeIsDocumented(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/operating.md"), "## What is in a home")
	table, _, _ = strings.Cut(table, "\n## ")
	documented, parts := map[string]bool{}, map[string]bool{}
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
		documented[strings.TrimSuffix(name[1], "/")] = true
		if dir, file, _ := strings.Cut(name[1], "/"); file != "" {
			parts[dir] = true // what is in it is said one by one
		}
	}
	found := shows(t, hubWithTwo+"parley artifact put .parley/run/address\nfind .parley -mindepth 1 -maxdepth 2 -printf 'file %P\\n'\nparley down\n")
	list := regexp.MustCompile(`(?m)^file (\S+)$`).FindAllStringSubmatch(found, -1)
	if len(list) < 10 {
		t.Errorf("only %d files were found in:\n%s", len(list), found)
	}
	for _, file := range list {
		inside, _, _ := strings.Cut(file[1], "/")
		if !documented[file[1]] && !documented[inside] && !parts[file[1]] {
			t.Errorf("docs/operating.md does not say what %s is", file[1])
		}
	}
}
