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
	reasonSize = 1 << 20 // a document of 10 KB has thousands of issues at most, each a sentence
)

// reason is what is kept beside a refused file. It is also how one that stays where it is is known again after a restart.
type reason struct {
	Path       string      `json:"path"`
	Digest     string      `json:"digest"`
	At         time.Time   `json:"at"`
	Code       parley.Code `json:"code"`
	Message    string      `json:"message"`
	Suggestion string      `json:"suggestion,omitempty"`
	*parley.Issues
}

// refuseFile refuses a file for good: it keeps the reason, once, with the file itself if the hub consumes the folder, else
// with a copy.
func (e *engine) refuseFile(q *queue, f file, why *parley.Error) {
	switch err := e.keepRefused(q, f, why); {
	case err == nil:
		e.settle(q, f, refused)
		q.noteRefused(f)
	case !errors.Is(err, errReplaced): // what is there by now is looked at by itself
		q.unreported[f.name] = unreportedRefusal{markOf(f.name, f.size, f.mtime), why}
		e.status.trouble(q.path, err)
	}
}

func (e *engine) keepRefused(q *queue, f file, why *parley.Error) error {
	return e.tree.inMadeFolder(rejected, func(to *folder) error {
		if f.digest == "" {
			f.digest = e.identify(f)
		}
		as, known, err := keptAs(to, f, q.consume)
		if err != nil {
			return err
		}
		if !known {
			if err := e.keepReason(to, as, f, why); err != nil {
				return err
			}
		}
		return e.keepFile(q, to, as, f)
	})
}

// identify returns a digest that identifies a file that was not read.
func (e *engine) identify(f file) string {
	text := f.path
	_ = e.tree.inFolder(path.Dir(f.path), func(in *folder) error { // a name that cannot be used stands for itself
		info, err := in.stat(path.Base(f.path))
		if err == nil {
			text += info.Mode().String() + info.ModTime().UTC().Format(time.RFC3339Nano)
		}
		return err
	})
	return digest([]byte(text))
}

// keptAs is the name under which a refused file is kept, and whether its reason is there already. Files with one name are told
// apart by what is in them, or by a number. One that is moved may be like another that was: it has a reason of its own.
func keptAs(to *folder, f file, moved bool) (as string, known bool, err error) {
	as = safeName(f.name)
	for n := 2; ; n++ {
		there, err := to.has(as)
		if err != nil {
			return "", false, err
		}
		kept, err := to.read(as+".reason", reasonSize)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !there:
			return as, false, nil
		case err == nil && kept.explains(f) && (!there || !moved):
			return as, true, nil
		case err != nil && refusal(err) == nil && !errors.Is(err, fs.ErrNotExist):
			return "", false, err
		}
		as = fmt.Sprintf("%s-%d-%s", f.digest[:8], n, safeName(f.name))
	}
}

// explains reports whether a file is the reason for the refusal of another.
func (f file) explains(refused file) bool {
	var r reason
	return json.Unmarshal(f.raw, &r) == nil && r.Path == asText(refused.path) && r.Digest == refused.digest
}

// asText is a path as JSON can say it: names need not be text.
func asText(at string) string { return string([]rune(at)) }

// wasRefused says whether a reason is kept for a file.
func (t *tree) wasRefused(f file) (known bool, err error) {
	err = t.inFolder(rejected, func(to *folder) error {
		_, known, err = keptAs(to, f, false)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return known, err
}

// keepReason writes the reason before the file is moved: so no file is ever there without one.
func (e *engine) keepReason(to *folder, as string, f file, why *parley.Error) error {
	raw, err := json.Marshal(reason{
		Path: asText(f.path), Digest: f.digest, At: e.now().UTC(), Code: why.Code, Message: why.Message, Suggestion: why.Suggestion,
		Issues: why.Validation,
	})
	if err != nil {
		return err
	}
	if err := to.replace(as+".reason", append(raw, '\n')); err != nil {
		return err
	}
	e.status.rejected.Add(1)
	line := why.Message
	if why.Suggestion != "" {
		line += " (" + why.Suggestion + ")"
	}
	e.say("ERROR: rejected %s: %s", f.path, line)
	if e.dialect == dialect.Routing && why.Validation != nil {
		e.sayInvalid(*why.Validation)
	}
	return nil
}

// sayInvalid writes what is wrong with a document into the layout's log: the whole object, on a line of its own.
func (e *engine) sayInvalid(issues parley.Issues) {
	issues.Action = discarded
	raw, err := json.Marshal(issues)
	if err == nil {
		err = e.appendLog(e.layout.logFile(), strings.Map(shownAs, string(raw)))
	}
	e.status.trouble("log", err)
}

// keepFile moves a refused file out of a folder that the hub consumes. Elsewhere it stays, and what could be read of it is
// copied.
func (e *engine) keepFile(q *queue, to *folder, as string, f file) error {
	if q.consume {
		err := e.tree.carry(f, to, as)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if f.raw == nil {
		return nil
	}
	return to.replace(as, f.raw)
}
