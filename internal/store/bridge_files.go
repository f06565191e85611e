package store

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

func (s bridges) AddFile(f storage.FileRow) error {
	num, err := s.num(f.Bridge)
	if err != nil {
		return err
	}
	message, err := uuidOrNull(f.Message)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO bridge_files (bridge, path, digest, name, sender, message, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`, num, f.File.Path, f.File.Digest, f.Name, f.From, message, millis(f.At))
	return requireRow(n, err, parley.ErrTaken)
}

func (s bridges) File(bridge string, f parley.BridgeFile) (storage.FileRow, error) {
	return s.file(bridge, "f.path = $2 AND f.digest = $3", f.Path, f.Digest)
}

// filesAtOnce is how many files one query looks up.
const filesAtOnce = 256

func (s bridges) KnownFiles(bridge string, files []parley.BridgeFile) (known []parley.BridgeFile, err error) {
	num, err := s.num(bridge)
	if err != nil {
		return nil, err
	}
	have := map[parley.BridgeFile]bool{}
	for page := range slices.Chunk(files, filesAtOnce) {
		if err := s.addKnown(have, num, page); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if have[f] {
			known = append(known, f)
		}
	}
	return known, nil
}

func (s bridges) addKnown(have map[parley.BridgeFile]bool, num int64, page []parley.BridgeFile) error {
	paths := make([]any, len(page))
	for i, f := range page {
		paths[i] = f.Path
	}
	q := query{}
	q.add("SELECT path, digest FROM bridge_files WHERE bridge = ?", num)
	q.among("path", paths)
	return s.each(q.text.String(), q.args, func(r Rows) error {
		var f parley.BridgeFile
		err := r.Scan(&f.Path, &f.Digest)
		have[f] = true
		return err
	})
}

func (s bridges) FileNamed(bridge, name, from string) (storage.FileRow, error) {
	f, err := s.newest(bridge, name, from, "AND f.message IS NOT NULL")
	if refused, err := notFound(err); !refused {
		return f, err
	}
	return s.newest(bridge, name, from, "")
}

// newest returns the newest file that has a name and meets a condition.
func (s bridges) newest(bridge, name, from, condition string) (storage.FileRow, error) {
	const last = " ORDER BY f.at DESC, f.path DESC LIMIT 1"
	if from == "" {
		return s.file(bridge, "f.name = $2 "+condition+last, name)
	}
	return s.file(bridge, "f.name = $2 AND f.sender = $3 "+condition+last, name, from)
}

func (s bridges) FileOfMessage(bridge, message string) (storage.FileRow, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return storage.FileRow{}, parley.ErrNotFound
	}
	return s.file(bridge, "f.message = $2 LIMIT 1", id[:])
}

func (s bridges) LastFile(bridge, prefix string) (storage.FileRow, error) {
	return s.file(bridge, "f.name >= $2 AND f.name < $3 ORDER BY f.name DESC LIMIT 1", prefix, prefix+maxSuffix)
}

func (s bridges) file(bridge, where string, args ...any) (storage.FileRow, error) {
	num, err := s.num(bridge)
	if err != nil {
		return storage.FileRow{}, err
	}
	return onlyRecord(readAll(s.tx, func() *fileRow { return &fileRow{file: storage.FileRow{Bridge: bridge}} },
		"SELECT f.path, f.digest, f.name, f.sender, "+messageNamed("f.message")+", f.at FROM bridge_files f WHERE f.bridge = $1 AND "+where,
		append([]any{num}, args...)...))
}

// fileRow is a row of bridge_files as it is read.
type fileRow struct {
	file    storage.FileRow
	message []byte
	at      int64
}

func (row *fileRow) dest() []any {
	f := &row.file
	return []any{&f.File.Path, &f.File.Digest, &f.Name, &f.From, &row.message, &row.at}
}

func (row *fileRow) value(*tx) (storage.FileRow, error) {
	row.file.At = fromMillis(row.at)
	return row.file, idsOf(map[*string][]byte{&row.file.Message: row.message})
}
