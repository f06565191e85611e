package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// completeFiles completes the names of files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// writeTo lets write fill the named file, or standard output. The file appears only when it is complete.
func (a *app) writeTo(ctx context.Context, name []string, force bool, doing string, write func(io.Writer) error) error {
	counted := &counter{}
	defer a.showProgress(ctx, doing, counted)()
	if len(name) == 0 || name[0] == "-" {
		out := a.plainOutput()
		counted.w = out
		return errors.Join(write(counted), out.Close())
	}
	if err := checkReplace(name[0], force); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name[0]), "."+filepath.Base(name[0])+".*")
	if err != nil {
		return cannotWrite(name[0], err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // does nothing after the rename
	counted.w = file
	if err := errors.Join(write(counted), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name[0]); err != nil {
		return cannotWrite(name[0], err)
	}
	a.printStderr("wrote %s to %s", formatSize(counted.n.Load()), name[0])
	return nil
}

// checkReplace refuses the name of an existing file, unless force is set.
func checkReplace(name string, force bool) error {
	switch info, err := os.Stat(name); {
	case err != nil:
		return nil // writing reports any other error
	case !info.Mode().IsRegular():
		return parley.Errorf(parley.BadInput, "%s is not a file", name).Suggest("name a file, or - for standard output")
	case !force:
		return parley.Errorf(parley.BadInput, "%s already exists", name).Because(parley.Conflict).Suggest("choose another name, or replace it with --force")
	default:
		return nil
	}
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// declareForce declares the flag --force, which allows the command to replace a file.
func declareForce(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace FILE if it exists")
}

// plainOutput returns standard output for the text of others. On a terminal, it replaces control characters.
func (a *app) plainOutput() io.WriteCloser {
	if isTerminal(a.out) {
		return &plainWriter{w: a.out}
	}
	return nopCloser{a.out}
}

// nopCloser is a writer that stays open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// plainWriter replaces control characters in whole lines, so that it never splits a character.
type plainWriter struct {
	w    io.Writer
	rest []byte // the line that has not ended yet
}

func (w *plainWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	_, err := io.WriteString(w.w, plain.Text(string(w.rest[:end])))
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(p), err
}

// Close writes the last line if it has no line end.
func (w *plainWriter) Close() error {
	_, err := io.WriteString(w.w, plain.Text(string(w.rest)))
	return err
}

func cannotWrite(name string, err error) error {
	return parley.Errorf(parley.BadInput, "cannot write %s: %w", name, withoutPath(err)).Suggest("choose another file")
}

// readFrom lets read process a file, or standard input if the name is "-".
func (a *app) readFrom(ctx context.Context, name, doing string, read func(io.Reader) error) error {
	counted := &counter{r: a.stdin(ctx)}
	if name != "-" {
		file, err := openFile(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		counted.r = file
	}
	defer a.showProgress(ctx, doing, counted)()
	return read(parley.UntilDone(ctx, counted))
}

func openFile(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, parley.Errorf(parley.BadInput, "cannot read %s: %w", name, withoutPath(err)).Suggest("check the name of the file")
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, parley.Errorf(parley.BadInput, "%s is a directory", name).
			Suggest("pack it first: tar c %s | parley artifact put -", name)
	}
	return file, nil
}

// withoutPath returns the cause of a path error. The message around it already has the path.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return fmt.Errorf("%w", err)
}
