package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
)

func (a *app) configCommand() *cobra.Command {
	return a.parentCommand("config", "Show the configuration of the hub", a.configShow(), a.configPath())
}

func (a *app) configShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show every setting, with its value and the source of the value",
		Long:  "Show every setting, with its value and the source of the value. These are the values that a hub reads if you start it now.",
		Example: `  parley config show
  PARLEY_RATE_BURST=50 parley config show -o json`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			for _, warning := range c.Warnings() {
				a.printStderr("%s", warning)
			}
			return printList(a, c.Values(),
				column[config.Value]{"key", func(v config.Value) string { return v.Key }},
				column[config.Value]{"value", func(v config.Value) string { return v.Value }},
				column[config.Value]{"source", func(v config.Value) string { return v.Source }},
			)
		},
	}
}

func (a *app) configPath() *cobra.Command {
	return &cobra.Command{
		Use:               "path",
		Short:             "Print the path of the configuration file, even if the file does not exist",
		Example:           `  $EDITOR "$(parley config path)"`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
		RunE: func(*cobra.Command, []string) error {
			dir, err := home.Locate(a.home)
			if err != nil {
				return err
			}
			path := struct {
				Path string `json:"path"`
			}{dir.Config()}
			return a.printDone(path, path.Path)
		},
	}
}

// settingFlag is a flag for a setting of the configuration. Package config parses its value.
type settingFlag struct{ text, placeholder string }

func (f *settingFlag) String() string { return f.text }

// Set keeps the text unparsed.
func (f *settingFlag) Set(text string) error {
	f.text = text
	return nil
}

// Type returns the placeholder that help shows for the value.
func (f *settingFlag) Type() string { return f.placeholder }

// placeholder returns the placeholder for a setting whose values the documentation describes as kind: the first words of
// "duration or `off`" or "list of names", and all values with bars between them where the values are listed.
func placeholder(kind string) string {
	if strings.HasPrefix(kind, "`") {
		return strings.NewReplacer("`", "", ", ", "|", " or a ", "|", " or ", "|").Replace(kind)
	}
	kind = strings.TrimPrefix(kind, "list of ")
	for _, end := range []string{" or ", ", "} {
		kind, _, _ = strings.Cut(kind, end)
	}
	return strings.TrimRight(strings.ReplaceAll(kind, " ", ""), ",")
}

// documentLink matches a link of the documentation to one of its pages.
var documentLink = regexp.MustCompile(`\[([^]]+)\]\([^)]*\)`)

// asHelp turns the documentation of a setting into the help of its flag.
func asHelp(doc string) string {
	text := documentLink.ReplaceAllString(doc, "docs/$1")
	text = strings.TrimSuffix(strings.ReplaceAll(text, "`", ""), ".")
	if first, _, _ := strings.Cut(text, " "); len(first) > 1 && first == strings.ToUpper(first) {
		return text // an abbreviation
	}
	return strings.ToLower(text[:1]) + text[1:]
}
