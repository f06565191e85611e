package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// ManifestName is the name of the file with the manifest of a backup.
	ManifestName   = "manifest.json"
	manifestFormat = 1
)

// Manifest lists the content of a backup.
type Manifest struct {
	Format    int            `json:"format"`
	Database  string         `json:"database"`         // sqlite or postgres
	Schema    int64          `json:"schema,omitempty"` // version of the tables; 0 if the database is copied as one file
	Program   string         `json:"program"`          // version of the program that made the backup
	CreatedAt time.Time      `json:"created_at"`
	Seq       int64          `json:"seq"` // of the newest message or event in the backup
	Messages  int64          `json:"messages"`
	Artifacts int64          `json:"artifacts"`
	Audited   int64          `json:"audited"`
	Files     []ManifestFile `json:"files"`
	Checksum  string         `json:"checksum"` // of the manifest without this field
}

// ManifestFile is one file of a backup.
type ManifestFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// NewManifest returns the manifest of a backup without its files, with the counts of a check of the backup.
func NewManifest(database string, report parley.CheckReport, seq int64) Manifest {
	return Manifest{
		Format: manifestFormat, Database: database, Program: parley.Version, CreatedAt: time.Now().UTC().Truncate(time.Second),
		Seq: seq, Messages: report.Messages, Artifacts: report.Artifacts, Audited: report.Audited,
	}
}

// summary returns the description of the backup for the caller that made it.
func (m Manifest) summary(dir string) parley.Backup {
	b := parley.Backup{Directory: dir, Seq: m.Seq, Files: len(m.Files), Messages: m.Messages}
	for _, f := range m.Files {
		b.Bytes += f.Size
	}
	return b
}

func (m Manifest) encode() ([]byte, error) {
	m.Checksum = ""
	plain, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	m.Checksum = hex.EncodeToString(sum[:])
	raw, err := json.MarshalIndent(m, "", "  ")
	return append(raw, '\n'), err
}

// Write writes the manifest of the backup in a directory, durably.
func (m Manifest) Write(dir string) error {
	raw, err := m.encode()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, ManifestName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// ReadManifest reads the manifest of the backup in a directory. It returns an error if the manifest was changed in any way, if
// its format is newer, or if the backup is of another kind of database.
func ReadManifest(dir, database string) (m Manifest, err error) {
	path := filepath.Join(dir, ManifestName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, parley.Errorf(parley.BadInput, "%s is not a backup: it has no %s", dir, ManifestName).Because(parley.NotFound).
			Suggest("name a directory that `parley backup` created")
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, BackupDamaged(dir, fmt.Errorf("%s is not JSON: %w", ManifestName, err))
	}
	switch encoded, err := m.encode(); {
	case err != nil:
		return m, err
	case m.Format > manifestFormat:
		return m, parley.Errorf(parley.Unavailable, "the backup %s was made by parley %s in a newer format", dir, m.Program).
			Suggest("install parley %s", m.Program)
	case !bytes.Equal(raw, encoded):
		return m, BackupDamaged(dir, fmt.Errorf("%s was changed", ManifestName))
	case m.Database != database:
		return m, parley.Errorf(parley.BadInput, "the backup %s is of a %s store, but this store is %s", dir, m.Database, database).
			Suggest("restore it into a %s store", m.Database)
	}
	return m, nil
}

// DescribeFile reads a file of a backup and returns the entry for it in the manifest.
func DescribeFile(dir, path string) (f ManifestFile, err error) {
	file, err := os.OpenInRoot(dir, path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	return ManifestFile{Path: path, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// BackupDamaged returns the error for a damaged backup.
func BackupDamaged(dir string, cause error) error {
	return parley.Errorf(parley.Internal, "the backup %s is damaged: %w", dir, cause).Suggest("use another backup")
}
