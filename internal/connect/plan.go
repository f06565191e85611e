package connect

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/parley-hub/parley/internal/home"
)

// errNotOurs says that a file has the name of a file of Parley, but another program has written it.
var errNotOurs = errors.New("it is not from Parley")

// Plan is what connecting a client changes in its files.
type Plan struct {
	Setup   Setup
	Changes []Change
	records []Record

	// beforeWrite is called before each file is written. Tests set it.
	beforeWrite func(path string)
}

// Change is the change of one file.
type Change struct {
	file   file
	before content
	after  []byte
}

// Path returns the path of the file.
func (c Change) Path() string { return c.file.path() }

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	old := c.Path()
	if c.before.info == nil {
		old = "/dev/null"
	}
	text := string(diff.Diff(old, c.before.text, c.Path(), c.after))
	_, text, _ = strings.Cut(text, "\n") // the line "diff", which has the names too
	return text
}

// NewPlan returns what connecting a client changes. known is the present connection, or nil. It returns E003 if a file cannot be parsed
// or must not be written. NewPlan changes nothing.
func NewPlan(s Setup, known *Connection) (*Plan, error) {
	p := &Plan{Setup: s, beforeWrite: func(string) {}}
	for _, f := range s.files() {
		if err := p.add(f, known); err != nil {
			return nil, s.explain(err, "connect")
		}
	}
	if known != nil { // other files: OpenCode may have had its file under the other name
		for _, r := range known.Files {
			if !slices.ContainsFunc(p.records, func(mine Record) bool { return mine.file().path() == r.file().path() }) {
				p.records = append(p.records, r)
			}
		}
	}
	return p, nil
}

// files returns the files to change. A plugin of the client has its own.
func (s Setup) files() []file {
	if s.Plugin {
		return nil
	}
	return s.Client.files(s)
}

func (p *Plan) add(f file, known *Connection) error {
	now, err := f.read()
	if err != nil {
		return err
	}
	after, err := f.apply(now.text)
	if err == nil {
		err = p.Setup.checkSyntax(f, now.text)
	}
	if err != nil {
		return err
	}
	old := known.record(f)
	r := Record{Root: f.root, Name: f.name, After: after, Dirs: f.missingDirs()}
	if old != nil {
		r.Dirs = append(slices.Clone(old.Dirs), r.Dirs...)
		slices.Sort(r.Dirs)
		r.Dirs = slices.Compact(r.Dirs)
	}
	before, err := f.beforeParley(now, after, old)
	if err != nil {
		return err
	}
	r.Existed, r.Before = before != nil, before
	if bytes.Equal(now.text, after) && now.info != nil {
		p.records = append(p.records, r)
		return nil
	}
	if err := now.checkWritable(f.path()); err != nil {
		return err
	}
	p.records = append(p.records, r)
	p.Changes = append(p.Changes, Change{f, now, after})
	return nil
}

// apply returns the text of the file with what Parley adds.
func (f file) apply(text []byte) ([]byte, error) {
	var err error
	for _, e := range f.edits {
		if text, err = e.apply(text); err != nil {
			return nil, f.parseError(err)
		}
	}
	return text, nil
}

// revert returns the text of the file without what Parley has added, or nil if nothing is left.
func (f file) revert(text, before []byte) ([]byte, error) {
	var err error
	for _, e := range slices.Backward(f.edits) {
		if text == nil {
			return nil, nil
		}
		if text, err = e.revert(text, before); err != nil {
			return nil, f.parseError(err)
		}
	}
	return text, nil
}

// parseError says that Parley leaves the file alone. Setup.explain adds what to do.
func (f file) parseError(err error) error {
	if errors.Is(err, errNotOurs) {
		return &parseProblem{f, err, "%s exists, and %v"}
	}
	return &parseProblem{f, err, "Parley leaves %s alone, because it cannot parse the file: %v"}
}

// beforeParley returns the text without anything of Parley, or nil if there was no file.
func (f file) beforeParley(now content, after []byte, old *Record) ([]byte, error) {
	switch {
	case now.info == nil:
		return nil, nil
	case old != nil && bytes.Equal(now.text, old.After):
		return old.before(), nil
	case old != nil:
		return f.revert(now.text, old.before())
	case bytes.Equal(now.text, after): // all is there, but no journal says why
		return f.revert(now.text, nil)
	default:
		return now.text, nil
	}
}

// Diff returns all changes as unified diffs.
func (p *Plan) Diff() string {
	var out strings.Builder
	for _, c := range p.Changes {
		out.WriteString(c.Diff())
	}
	return out.String()
}

// Apply makes the changes. token is the id of the agent's token. A run that ends in between leaves a journal, so that connecting again
// completes it, and disconnecting takes it back.
func (p *Plan) Apply(h home.Dir, token string) error {
	c := p.Setup.Connection()
	c.Token, c.Files = token, p.records
	if err := c.save(h); err != nil {
		return err
	}
	for _, change := range p.Changes {
		p.beforeWrite(change.Path())
		if err := change.file.write(change.before, change.after); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns the paths of files that lack something of Parley, for example because somebody has edited them. It returns E003 for a
// file that the client cannot read.
func (c Connection) Missing(m Machine) (paths []string, err error) {
	s, err := c.Setup(m)
	if err != nil {
		return nil, err
	}
	if len(c.Files) == 0 {
		return nil, nil // a plugin of the client registers Parley
	}
	for _, f := range s.files() {
		has, err := s.hasAll(f)
		if err != nil {
			return nil, s.explain(err, "")
		}
		if !has {
			paths = append(paths, f.path())
		}
	}
	return paths, nil
}

// hasAll reports whether a file has all that Parley adds to it.
func (s Setup) hasAll(f file) (bool, error) {
	now, err := f.read()
	if err == nil {
		err = s.checkSyntax(f, now.text)
	}
	if err != nil || now.info == nil {
		return false, err
	}
	for _, e := range f.edits {
		if is, err := e.isIn(now.text); err != nil {
			return false, f.parseError(err)
		} else if !is {
			return false, nil
		}
	}
	return true, nil
}
