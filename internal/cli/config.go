package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
)

func (a *app) configCommand() *cobra.Command {
	return a.menu("config", "Show how the hub is configured", a.configShow(), a.configPath())
}

func (a *app) configShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show every setting, and where its value comes from",
		Long:  "Show every setting with its value and where that comes from, as a hub that is started now would have it.",
		Example: `  parley config show
  PARLEY_RATE_BURST=50 parley config show -o json`,
		Args:              noArgs,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, c, err := a.configured(cmd)
			if err != nil {
				return err
			}
			for _, warning := range c.Warnings() {
				a.say("%s", warning)
			}
			return list(a, c.Values(),
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
		Short:             "Print the path of the configuration file, which need not exist",
		Example:           `  $EDITOR "$(parley config path)"`,
		Args:              noArgs,
		ValidArgsFunction: nothing,
		RunE: func(*cobra.Command, []string) error {
			dir, err := home.Locate(a.home)
			if err != nil {
				return err
			}
			path := struct {
				Path string `json:"path"`
			}{dir.Config()}
			return a.done(path, path.Path)
		},
	}
}

// asHelp turns a sentence of the documentation into the help of a flag.
func asHelp(doc string) string {
	text := strings.TrimSuffix(strings.ReplaceAll(doc, "`", ""), ".")
	return strings.ToLower(text[:1]) + text[1:]
}
