package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	maxLineLength = 32 << 20 // bytes of one line
	batchLines    = 200      // lines in one update
	batchBytes    = 4 << 20  // size of the lines in one update; a longer line is alone in its update
)

// importer reads an export and adds its lines to the hub, in batches. A line whose content exists already is skipped.
type importer struct {
	*Service
	caller unit.Caller
	report parley.ImportReport
	batch  []pendingEntry
	bytes  int
	ended  bool
	tasks  taskNumbers
}

// pendingEntry is a line that is not stored yet.
type pendingEntry struct {
	num   int64 // the number of its line
	store func(*HistoryWriter) error
}

// HistoryWriter is an update that stores history, with counts of what it stored so far.
type HistoryWriter struct {
	*unit.Unit
	counts              parley.ImportReport
	conversationsBefore map[string]parley.Conversation // the conversations before the import added messages
	tasks               *taskNumbers
}

// NewHistoryWriter returns a writer of history for an update.
func NewHistoryWriter(u *unit.Unit) *HistoryWriter {
	return &HistoryWriter{Unit: u, conversationsBefore: map[string]parley.Conversation{}}
}

// WithUnit returns a writer for the same transaction with another unit.
func (in *HistoryWriter) WithUnit(u *unit.Unit) *HistoryWriter {
	copied := *in
	copied.Unit = u
	return &copied
}

// Import adds the lines that ExportAll wrote. It skips what exists, so it can be repeated after an interruption. Messages
// are history: they are added at the end of the order and delivered to nobody. Open tasks are cancelled, and approvals that
// were not executed are withdrawn; both get numbers of this hub, and
// so do notes. Import stops at the first line that it cannot import and
// keeps the lines before it. Only an owner may call it.
func (s *Service) Import(ctx context.Context, caller unit.Caller, r io.Reader) (parley.ImportReport, error) {
	i := &importer{Service: s, caller: caller}
	lines := bufio.NewReaderSize(parley.UntilDone(ctx, r), 64<<10)
	if err := i.readHeader(ctx, lines); err != nil {
		return i.report, err
	}
	if err := PurgeConversations(ctx, s.Core); err != nil { // conversations that were just deleted would conflict
		return i.report, err
	}
	for num := int64(2); !i.ended; num++ {
		raw, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			i.report.Notices = append(i.report.Notices, "the file has no closing line: its last entries may be missing")
			break
		}
		if err == nil {
			err = i.addLine(ctx, num, raw)
		}
		if err != nil {
			return i.stopAt(ctx, num, err)
		}
	}
	if err := i.flush(ctx); err != nil {
		return i.report, err
	}
	return i.report, i.audit(ctx, "hub.imported", i.report)
}

// readHeader reads the first line and checks that the caller may import.
func (i *importer) readHeader(ctx context.Context, lines *bufio.Reader) error {
	if err := i.audit(ctx, "hub.import", nil); err != nil {
		return err
	}
	raw, err := readLine(lines)
	var l line
	if err == nil {
		err = decodeLine(raw, &l)
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && l.Parley != "export":
		err = parley.Errorf(parley.BadInput, "this is not an export of a hub").Suggest("use a file that parley export wrote")
	case err == nil && (l.Version < 1 || l.Version > exportVersion):
		err = parley.Errorf(parley.BadInput, "the export has version %d, but this program reads only versions up to %d", l.Version, exportVersion).
			Suggest("use the program that wrote it, or a newer one")
	}
	if err != nil {
		return atLine(1, err)
	}
	i.report.Lines = 1
	return nil
}

func (i *importer) audit(ctx context.Context, act string, detail any) error {
	return i.Update(ctx, i.caller, unit.OpImportHub, func(u *unit.Unit) error {
		return access.Audit(u, act, "", detail)
	})
}

// stopAt stores the lines before one that cannot be imported, and returns the error with its line number.
func (i *importer) stopAt(ctx context.Context, num int64, err error) (parley.ImportReport, error) {
	if earlier := i.flush(ctx); earlier != nil {
		return i.report, earlier
	}
	return i.report, atLine(num, i.Explain(ctx, i.caller, err))
}

// addLine adds a line to the batch, and stores the batch first if it is full.
func (i *importer) addLine(ctx context.Context, num int64, raw []byte) error {
	if len(i.batch) >= batchLines || i.bytes+len(raw) > batchBytes {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	store, err := i.parseEntry(ctx, raw)
	if err != nil || store == nil {
		return err
	}
	i.batch, i.bytes = append(i.batch, pendingEntry{num, store}), i.bytes+len(raw)
	return nil
}

// flush stores the batch. If an entry is refused, it stores the entries before it.
func (i *importer) flush(ctx context.Context) error {
	batch := i.batch
	i.batch, i.bytes = nil, 0
	stored, cause := i.storeBatch(ctx, batch)
	if cause == nil || stored == 0 || stored == len(batch) {
		return atEntry(batch, stored, cause)
	}
	if again, err := i.storeBatch(ctx, batch[:stored]); err != nil {
		return atEntry(batch, again, err)
	}
	return atEntry(batch, stored, cause)
}

// storeBatch stores all entries in one update, or none. It returns how many entries were accepted before an error.
func (i *importer) storeBatch(ctx context.Context, batch []pendingEntry) (accepted int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	var done parley.ImportReport
	err = i.Update(ctx, i.caller, unit.OpImportHub, func(u *unit.Unit) error {
		accepted = 0
		in := NewHistoryWriter(u)
		in.tasks = &i.tasks
		for _, e := range batch {
			if err := e.store(in); err != nil {
				return err
			}
			accepted++
		}
		done = in.counts
		return in.RestoreConversations()
	})
	if err == nil {
		i.addToReport(done, batch[len(batch)-1].num)
	}
	return accepted, err
}

// atEntry adds the line number of an entry to an error that the entry caused.
func atEntry(batch []pendingEntry, index int, err error) error {
	if err == nil || index == len(batch) {
		return err
	}
	return atLine(batch[index].num, err)
}

func (i *importer) addToReport(done parley.ImportReport, lines int64) {
	r := &i.report
	r.Lines = lines
	r.Agents += done.Agents
	r.Conversations += done.Conversations
	r.Messages += done.Messages
	r.Permissions += done.Permissions
	r.Tasks += done.Tasks
	r.Approvals += done.Approvals
	r.Notes += done.Notes
	r.Skipped += done.Skipped
	r.BodiesMissing += done.BodiesMissing
}

// atLine adds a line number to an error, unless it has one.
func atLine(num int64, err error) error {
	if _, hasLine := errors.AsType[lineError](err); hasLine {
		return err
	}
	numbered := *parley.AsError(err)
	numbered.Message = fmt.Sprintf("line %d: %s", num, numbered.Message)
	return (&numbered).From(lineError{err})
}

// lineError marks an error that already has a line number.
type lineError struct{ error }

func (p lineError) Unwrap() error { return p.error }

// readLine reads a line without its end. io.EOF if there is none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if text = append(text, part...); len(text) > maxLineLength {
			return nil, parley.Errorf(parley.BadInput, "the line has more than %d bytes", maxLineLength).Because(parley.TooLarge).
				Suggest("use a file that parley export wrote")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0, err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		case errors.Is(err, io.EOF), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil, err
		default:
			return nil, parley.Errorf(parley.BadInput, "cannot read the rest of the file: %w", err).Suggest("repeat the import")
		}
	}
}

func decodeLine(raw []byte, into *line) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && dec.More() {
		err = errors.New("there is more text after the JSON object")
	}
	if err != nil {
		return parley.Errorf(parley.BadInput, "the line does not belong in an export: %w", err).
			Suggest("use a file that parley export wrote")
	}
	return nil
}
