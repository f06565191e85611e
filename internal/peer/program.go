package peer

import (
	"path"
	"slices"
	"strings"
)

// program describes the program of a process.
type program struct {
	name string   // as the system shows it
	file string   // path of the executable; empty if it is unknown
	argv []string // empty if it is unknown
}

// hasName reports whether the program has one of the names.
func (p program) hasName(names []string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(p.name, "-"), ":") // "tmux: server"
	return slices.Contains(names, name) || p.file != "" && slices.Contains(names, path.Base(p.file))
}

// isParley reports whether the program is parley, which clients start to follow a session. The name of its file may contain a
// version or a system: parley-v2, parley_linux_amd64.
func (p program) isParley() bool {
	return slices.ContainsFunc([]string{p.name, path.Base(p.file)}, func(name string) bool {
		rest, found := strings.CutPrefix(name, "parley")
		return found && (rest == "" || strings.ContainsRune("-_.", rune(rest[0])))
	})
}

// names returns the names that a program may have. For a shell or an interpreter, these are only the names of the script.
func (p program) names() []string {
	if p.hasName(shells) || p.hasName(interpreters) {
		return append(p.script(), p.titles()...)
	}
	names := []string{p.name, fileName(p.file)}
	if len(p.argv) > 0 {
		names = append(names, fileName(p.argv[0]))
	}
	return names
}

// fileName returns the name of a program's file. npm installs the programs of some clients as claude.exe, on every system.
func fileName(file string) string { return strings.TrimSuffix(path.Base(file), ".exe") }

// script returns the names of the script that the program runs: the packages that contain its file, and the name of the file.
func (p program) script() []string {
	for i, arg := range p.argv {
		if i == 0 {
			continue
		}
		if strings.HasPrefix(arg, "-") {
			if p.hasName(shells) {
				return nil // the shell runs no script file
			}
			continue
		}
		return append(packages(arg), strings.TrimSuffix(path.Base(arg), path.Ext(arg)))
	}
	return nil
}

// packages returns the names of the Node.js packages that contain a file.
func packages(file string) (names []string) {
	elements := strings.Split(file, "/")
	for i, element := range elements {
		for next := i + 1; element == "node_modules" && next < len(elements); next++ {
			if names = append(names, elements[next]); !strings.HasPrefix(elements[next], "@") {
				break
			}
		}
	}
	return names
}

// titles returns the names that a script may have given to the process of its interpreter.
func (p program) titles() []string {
	if p.hasName(shells) || len(p.argv) == 0 {
		return nil
	}
	title, _, _ := strings.Cut(p.argv[0], " ")
	return []string{p.name, path.Base(title)}
}
