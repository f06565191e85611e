package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkDir returns an error if the program of an agent must not work in a directory. It checks the directory to which symbolic
// links lead.
func (o Options) checkDir(dir, agent string) error {
	target, err := filepath.EvalSymlinks(dir)
	if info, failed := os.Stat(target); !filepath.IsAbs(dir) || err != nil || failed != nil || !info.IsDir() {
		return fmt.Errorf("dir %q is not the absolute path of a directory", dir)
	}
	if o.Home != "" {
		home := resolved(o.Home)
		switch {
		case within(target, filepath.Join(home, "agents", agent)):
			return nil
		case within(target, home):
			return fmt.Errorf("dir %q is in the hub's home, where only an agent's own directory can be used", dir)
		case within(home, target):
			return fmt.Errorf("dir %q holds the hub's home: a program that may write there could change the hub", dir)
		}
	}
	if target == string(filepath.Separator) {
		return fmt.Errorf("dir %q is the whole file system", dir)
	}
	if o.Dirs != nil && !slices.ContainsFunc(o.Dirs, func(root string) bool { return within(target, resolved(root)) }) {
		return fmt.Errorf("dir %q is in none of the directories that config.yaml allows (runs.dirs: %s)", dir, strings.Join(o.Dirs, ", "))
	}
	return nil
}

// resolved returns a path without symbolic links. If the path does not exist, resolved only cleans it.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// within reports whether a path is a directory, or in that directory.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// checkEnv returns an error if an agent must not get a variable: the configuration does not allow it, and no preset passes it
// on.
func (r *Runtime) checkEnv(names []string) error {
	if r.options.Env == nil {
		return nil
	}
	allowed := slices.Concat(r.options.Env, alwaysPassed)
	for _, preset := range r.presets {
		allowed = append(allowed, preset.Pass...)
	}
	for _, name := range names {
		if !matches(allowed, name) {
			return fmt.Errorf("env %q is not among the variables that config.yaml allows (runs.env)", name)
		}
	}
	return nil
}
