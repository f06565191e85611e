package hook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// projectDirs returns the directories in which the client looks for the files of a project.
func (c Call) projectDirs(in input) []string {
	named := ""
	if c.Env != nil {
		named = c.Env(projectVariables[c.Client])
	}
	switch {
	case named != "":
		return []string{named}
	case len(in.Workspaces) > 0:
		return in.Workspaces
	case in.Dir == "":
		return nil
	case c.Client == "codex", c.Client == "opencode":
		return upToRepository(in.Dir, c.Client == "opencode")
	default:
		return []string{in.Dir}
	}
}

// projectVariables are the variables by which clients tell a hook the directory of the project.
var projectVariables = map[string]string{"claude": "CLAUDE_PROJECT_DIR", "gemini": "GEMINI_PROJECT_DIR"}

// upToRepository returns a directory and those above it, up to the root of its Git repository. Outside of a repository, it returns the
// directory alone, or all of them.
func upToRepository(dir string, all bool) (dirs []string) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		dirs = append(dirs, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return dirs
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if all {
		return dirs
	}
	return dirs[:1]
}
