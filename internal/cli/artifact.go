package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) artifactCommand() *cobra.Command {
	return a.parentCommand("artifact", "Store and fetch files", a.artifactPut(), a.artifactGet())
}

func (a *app) artifactPut() *cobra.Command {
	return &cobra.Command{
		Use:               "put FILE",
		Short:             "Store a file and print its digest",
		Example:           "  digest=$(parley artifact put report.pdf)\n  tar c src | parley artifact put -",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeFiles,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			var stored parley.Artifact
			err := a.readFrom(ctx, args[0], "storing", func(r io.Reader) (err error) {
				stored, err = c.PutArtifact(ctx, r)
				return err
			})
			if err != nil {
				return err
			}
			return a.printValue(stored, func() {
				a.printWords(stored.SHA256)
				a.printStderr("stored %s", formatSize(stored.Size))
			})
		}),
	}
}

func (a *app) artifactGet() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:               "get SHA256 [FILE]",
		Short:             "Fetch a file by its digest",
		Example:           "  parley artifact get $DIGEST report.pdf\n  parley artifact get $DIGEST | tar t",
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(completeNothing, completeFiles),
	}
	declareForce(cmd, &force)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 1 && isTerminal(a.out) {
			return usagef(cmd, "the file may have control characters; name the FILE to write, or give - to print it anyway")
		}
		body, err := c.OpenArtifact(ctx, args[0])
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		return a.writeTo(ctx, args[1:], force, "fetching", func(w io.Writer) error {
			_, err := io.Copy(w, body)
			return err
		})
	})
	return cmd
}
