package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// directories parses absolute paths. ~ is the home directory of the hub's user.
func directories(text string) (list []string, err error) {
	dirs, err := splitList(text, func(dir string) error {
		if dir != "~" && !strings.HasPrefix(dir, "~/") && !filepath.IsAbs(dir) {
			return fmt.Errorf("%q is not an absolute path, nor one that begins with ~/", dir)
		}
		return nil
	})
	for _, dir := range dirs {
		if rest, found := strings.CutPrefix(dir, "~"); found {
			home, err := os.UserHomeDir()
			if err != nil {
				continue // without a home directory, ~ contains nothing
			}
			dir = filepath.Join(home, rest)
		}
		list = append(list, filepath.Clean(dir))
	}
	return list, err
}

var (
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	programName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
)

func variables(text string) ([]string, error) {
	return splitList(text, func(name string) error {
		if !variablePattern.MatchString(name) {
			return fmt.Errorf("%q is not the name of a variable, like MY_KEY or AWS_*", name)
		}
		return nil
	})
}

func programNames(text string) ([]string, error) {
	return splitList(text, func(name string) error {
		if !programName.MatchString(name) {
			return fmt.Errorf("%q is not the name of a program, like my-agent", name)
		}
		return nil
	})
}
