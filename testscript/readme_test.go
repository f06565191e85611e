package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlocks matches the commands that a document tells its reader to type.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// yamlBlocks matches the files that a document tells its reader to write.
var yamlBlocks = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestReadme types the commands of the README, in order. In place of m29, it types the short name that send has printed.
func TestReadme(t *testing.T) {
	const question = "parley send gendry \"is the build green?\"\n"
	script := commandsOf(t, "README.md")
	if strings.Count(script, question) != 1 || strings.Count(script, " m29") != 2 {
		t.Fatal("the README does not ask gendry, or does not use the name of the question")
	}
	script = strings.NewReplacer(question, "asked=$("+strings.TrimSpace(question)+")\necho \"$asked\"\n", " m29", " ${asked##* }").Replace(script)
	runCommands(t, script,
		"Hello, user. You said “hello there”.", "created  #project-x", "accepted  arya", "accepted  gendry", "thoughts on streaming?",
		"green since Tuesday", "answered",
		"Response from DataBot: Q4 revenue was", "Notification sent to arya.", "This action requires approval. Waiting for approval...",
		"approved  gendry", "allowed with approval  gendry → data",
		`"text":"done"`, "added  agentos-collab", "accepted  builder", "removed  agentos-collab", "stopped")
}

// TestTheReadmeNeedsNoOtherLanguage checks that the commands of the README need no programs such as awk or jq.
func TestTheReadmeNeedsNoOtherLanguage(t *testing.T) {
	if found := regexp.MustCompile(`\b(awk|sed|jq|grep|cut|python3?|perl)\b`).FindString(commandsOf(t, "README.md")); found != "" {
		t.Errorf("the README needs %s", found)
	}
}

// TestTheReadmeTakesNoNameOfAClient checks that no example uses the name of a client for an agent of a bridge. A reader who types
// the example could not give this name to the client.
func TestTheReadmeTakesNoNameOfAClient(t *testing.T) {
	clients := regexp.MustCompile(`--agents\s+\S*\b(claude|codex|gemini|opencode|qwen|cursor|amp|goose|aider)\b`)
	for _, document := range []string{"README.md", "docs/bridges.md", "docs/formats.md", "docs/operating.md"} {
		if found := clients.FindString(read(t, document)); found != "" {
			t.Errorf("%s takes the name of a client for good: %s", document, found)
		}
	}
}

// documents are the documents whose commands TestDocuments types, each with texts that the commands must print.
var documents = map[string][]string{
	"docs/tasks.md": {
		`task-2: "Publish it" (gendry) — QUEUED  (waits for task-1)`, "active  task-1  arya", "completed  task-1  arya",
		"cancelled  task-2  gendry", "queued  task-2  gendry", "queued  task-2  arya", "attempt             3",
	},
	"docs/permissions.md": {"allowed with approval by a person  arya → user", "allowed  arya → gendry", "denied  arya → *", "removed  arya → gendry"},
	"docs/mcp.md":         {"added  ana", "parley_", `You are \"ana\"`, `"name":"contact_agent"`},
	"docs/memory.md":      {"noted  note-1", "The deploy key is in the vault.", "noted  note-2", "Deploys are on Tuesdays.", "forgotten  note-2"},
	"docs/observing.md":   {"sent    user  gendry  chat", `"status":"sent"`},
	"docs/connect.md":     {"connected  claude  ana", "accepted  ana", "connected  claude  bob", "disconnected  claude  ana", "disconnected  claude  bob"},
	"docs/operating.md":   {"paused  arya", "resumed  arya", "stopped  arya", "started  arya", "resumed  arya  gendry"},
}

// typedElsewhere are the documents whose commands other tests type, with these tests.
var typedElsewhere = map[string]string{
	"README.md":                "TestReadme",
	"docs/runtimes/command.md": "TestTheWordcountOfTheDocumentCountsTheMessage",
}

// notTyped are the documents with commands of programs that the tests do not have. The values are the beginnings of these commands.
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

// TestDocuments types the commands of other documents, at a hub with two agents. In place of the default address, it types that of the
// hub.
func TestDocuments(t *testing.T) {
	for document, shown := range documents {
		t.Run(document, func(t *testing.T) {
			script := strings.ReplaceAll(commandsOf(t, document), "127.0.0.1:7717", `"$(cat "$HOME/.parley/run/address")"`)
			runCommands(t, hubWithTwo+script+"parley down\n", shown...)
		})
	}
}

// TestEveryDocumentIsTyped checks that a test types each command that a document tells its reader to type.
func TestEveryDocumentIsTyped(t *testing.T) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			document := strings.TrimPrefix(filepath.ToSlash(file), "../")
			prefix, exempt := notTyped[document]
			for _, block := range shellBlocks.FindAllStringSubmatch(read(t, document), -1) {
				_, typedHere := documents[document]
				_, typedByOther := typedElsewhere[document]
				if exempt && !strings.HasPrefix(block[1], prefix) || !exempt && !typedHere && !typedByOther {
					t.Errorf("no test types what %s says:\n%s", document, block[1])
				}
			}
		}
	}
}

// TestTheWordcountOfTheDocumentCountsTheMessage writes the config.yaml of the document and types the commands of the document.
func TestTheWordcountOfTheDocumentCountsTheMessage(t *testing.T) {
	_, part, _ := strings.Cut(read(t, "docs/runtimes/command.md"), "## Programs of your own")
	config := yamlBlocks.FindStringSubmatch(part)
	runCommands(t, "umask 022\nmkdir -m 700 .parley\ncat > .parley/config.yaml <<'END'\n"+config[1]+"END\nparley up --detach\n"+
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

// runCommands types commands in a new home, and requires that they succeed and print each of the texts. It returns all output.
func runCommands(t *testing.T, script string, texts ...string) string {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "PARLEY_ADDR=127.0.0.1:0", "PARLEY_HOME=", "PARLEY_STORE=")
	t.Cleanup(func() {
		stop := exec.Command("parley", "down") // the commands may have failed before they stopped the hub
		stop.Env = env
		_ = stop.Run()
	})
	shell := exec.Command("sh", "-eux")
	shell.Stdin, shell.Env, shell.Dir = strings.NewReader(script), env, home
	out, err := shell.CombinedOutput()
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

// TestEveryFileOfAHomeIsDocumented compares the files of a home with the table in docs/operating.md.
func TestEveryFileOfAHomeIsDocumented(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/operating.md"), "## What is in a home")
	table, _, _ = strings.Cut(table, "\n## ")
	documented, parts := map[string]bool{}, map[string]bool{}
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
		documented[strings.TrimSuffix(name[1], "/")] = true
		if dir, file, _ := strings.Cut(name[1], "/"); file != "" {
			parts[dir] = true // the table has a row for each file in this directory
		}
	}
	output := runCommands(t, hubWithTwo+"parley artifact put .parley/run/address\nfind .parley -mindepth 1 -maxdepth 2 -printf 'file %P\\n'\nparley down\n")
	list := regexp.MustCompile(`(?m)^file (\S+)$`).FindAllStringSubmatch(output, -1)
	if len(list) < 10 {
		t.Errorf("only %d files were found in:\n%s", len(list), output)
	}
	for _, file := range list {
		topDir, _, _ := strings.Cut(file[1], "/")
		if !documented[file[1]] && !documented[topDir] && !parts[file[1]] {
			t.Errorf("docs/operating.md does not say what %s is", file[1])
		}
	}
}
