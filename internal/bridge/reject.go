package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

const (
	rejected   = ownFolder + "/rejected"
	reasonSize = 1 << 20 // fits a document of 10 KB, which has thousands of issues at most
)

// reason is the contents of the file that the bridge keeps about a refused file. By it the bridge recognizes, after a restart, a
// refused file that stays in its folder.
type reason struct {
	Path       string      `json:"path"`
	Digest     string      `json:"digest"`
	At         time.Time   `json:"at"`
	Code       parley.Code `json:"code"`
	Message    string      `json:"message"`
	Suggestion string      `json:"suggestion,omitempty"`
	*parley.Issues
}

// refuseFile refuses a file for good. It keeps the reason once: with the file itself if the bridge consumes the folder, otherwise
// with a copy.
func (e *engine) refuseFile(q *importQueue, f file, cause *parley.Error) {
	switch err := e.keepRefused(q, f, cause); {
	case err == nil:
		e.settle(q, f, refused)
		q.noteRefused(f)
	case !errors.Is(err, errReplaced): // a later poll reads the replacement
		q.unreported[f.name] = unreportedRefusal{fileVersionOf(f.name, f.size, f.mtime), cause}
		e.status.setProblem(q.path, err)
	}
}

func (e *engine) keepRefused(q *importQueue, f file, cause *parley.Error) error {
	return e.tree.inMadeFolder(rejected, func(to *folder) error {
		if f.digest == "" {
			f.digest = e.identify(f)
		}
		name, known, err := nameInRejected(to, f, q.consume)
		if err != nil {
			return err
		}
		if !known {
			if err := e.keepReason(to, name, f, cause); err != nil {
				return err
			}
		}
		return e.keepFile(q, to, name, f)
	})
}

// identify returns a digest that identifies a file that was not read.
func (e *engine) identify(f file) string {
	text := f.path
	_ = e.tree.inFolder(path.Dir(f.path), func(in *folder) error { // without a description, the path alone is the identity
		info, err := in.stat(path.Base(f.path))
		if err == nil {
			text += info.Mode().String() + info.ModTime().UTC().Format(time.RFC3339Nano)
		}
		return err
	})
	return digest([]byte(text))
}

// nameInRejected returns the name under which to keep a refused file, and whether its reason exists already. Different files with
// the same name get names with a digest and a number. A file that is moved gets a reason of its own, even if an earlier one had
// the same contents.
func nameInRejected(to *folder, f file, moved bool) (name string, known bool, err error) {
	name = safeName(f.name)
	for n := 2; ; n++ {
		taken, err := to.has(name)
		if err != nil {
			return "", false, err
		}
		kept, err := to.read(name+".reason", reasonSize)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !taken:
			return name, false, nil
		case err == nil && kept.explains(f) && (!taken || !moved):
			return name, true, nil
		case err != nil && refusalOf(err) == nil && !errors.Is(err, fs.ErrNotExist):
			return "", false, err
		}
		name = fmt.Sprintf("%s-%d-%s", f.digest[:8], n, safeName(f.name))
	}
}

// explains reports whether a file is the reason for the refusal of another.
func (f file) explains(refused file) bool {
	var r reason
	return json.Unmarshal(f.raw, &r) == nil && r.Path == asText(refused.path) && r.Digest == refused.digest
}

// asText returns a path as valid UTF-8, as JSON stores it. File names need not be valid.
func asText(at string) string { return string([]rune(at)) }

// wasRefused reports whether a reason is kept for a file.
func (t *tree) wasRefused(f file) (known bool, err error) {
	err = t.inFolder(rejected, func(to *folder) error {
		_, known, err = nameInRejected(to, f, false)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return known, err
}

// keepReason writes the reason of a refused file, and logs it. The caller moves the file afterwards, so that no rejected file
// lacks a reason.
func (e *engine) keepReason(to *folder, name string, f file, cause *parley.Error) error {
	raw, err := json.Marshal(reason{
		Path: asText(f.path), Digest: f.digest, At: e.now().UTC(), Code: cause.Code, Message: cause.Message, Suggestion: cause.Suggestion,
		Issues: cause.Validation,
	})
	if err != nil {
		return err
	}
	if err := to.replace(name+".reason", append(raw, '\n')); err != nil {
		return err
	}
	e.status.rejected.Add(1)
	line := cause.Message
	if cause.Suggestion != "" {
		line += " (" + cause.Suggestion + ")"
	}
	e.logf("ERROR: rejected %s: %s", f.path, line)
	if e.dialect == dialect.Routing && cause.Validation != nil {
		e.logIssues(*cause.Validation)
	}
	return nil
}

// logIssues writes the issues of a document into the log of the tree, as one JSON object on a line of its own.
func (e *engine) logIssues(issues parley.Issues) {
	issues.Action = discarded
	raw, err := json.Marshal(issues)
	if err == nil {
		err = e.appendLog(e.layout.logFile(), strings.Map(shownAs, string(raw)))
	}
	e.status.setProblem("log", err)
}

// keepFile moves a refused file out of a folder that the bridge consumes. In any other folder the file stays, and keepFile copies
// it if it could be read.
func (e *engine) keepFile(q *importQueue, to *folder, name string, f file) error {
	if q.consume {
		err := e.tree.moveAs(f, to, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if f.raw == nil {
		return nil
	}
	return to.replace(name, f.raw)
}
