package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkDir says why the program of an agent may not work in a directory, or nil. Where links lead counts.
func (o Options) checkDir(dir, agent string) error {
	real, err := filepath.EvalSymlinks(dir)
	if info, failed := os.Stat(real); !filepath.IsAbs(dir) || err != nil || failed != nil || !info.IsDir() {
		return fmt.Errorf("dir %q is not the absolute path of a directory", dir)
	}
	if o.Home != "" {
		home := resolved(o.Home)
		switch {
		case within(real, filepath.Join(home, "agents", agent)):
			return nil
		case within(real, home):
			return fmt.Errorf("dir %q is in the hub's home, where only an agent's own directory can be used", dir)
		case within(home, real):
			return fmt.Errorf("dir %q holds the hub's home: a program that may write there could change the hub", dir)
		}
	}
	if real == string(filepath.Separator) {
		return fmt.Errorf("dir %q is the whole file system", dir)
	}
	if o.Dirs != nil && !slices.ContainsFunc(o.Dirs, func(root string) bool { return within(real, resolved(root)) }) {
		return fmt.Errorf("dir %q is in none of the directories that config.yaml allows (runs.dirs: %s)", dir, strings.Join(o.Dirs, ", "))
	}
	return nil
}

// resolved is a path without links, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within says whether a path is a directory or in it.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// checkEnv says why an agent may not be given variables, or nil: they are neither allowed by the configuration, nor does a
// preset pass them on.
func (r *Runtime) checkEnv(names []string) error {
	if r.options.Env == nil {
		return nil
	}
	may := slices.Concat(r.options.Env, alwaysPassed)
	for _, preset := range r.presets {
		may = append(may, preset.Pass...)
	}
	for _, name := range names {
		if !matches(may, name) {
			return fmt.Errorf("env %q is not among the variables that config.yaml allows (runs.env)", name)
		}
	}
	return nil
}
