package parley

import (
	"regexp"
	"strings"
	"unicode"
)

// maxFileName is the longest name, in bytes, that file systems accept.
const maxFileName = 255

// CheckArtifactName returns why a text cannot be the name of an artifact, or nil. A name is a file name without a directory, so
// that a program that saves the artifact under its name never writes into another directory. An empty name is allowed.
func CheckArtifactName(name string) error {
	if err := checkText("artifact name", name, maxFileName); err != nil {
		return err
	}
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, isControlOrFormat) {
		return Errorf(BadInput, "%q is not a valid name for an artifact", clip(name)).
			Suggest("use a file name without a directory: no / or \\, no line breaks, not . or ..")
	}
	return nil
}

// isControlOrFormat reports whether a character is a control character, a format character or a line separator. It returns false
// for the two joiners that words of some scripts and emoji need.
func isControlOrFormat(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200c' && r != '\u200d'
}

var (
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	anyDigest  = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// FoldDigest returns a digest in lower case, as the hub stores digests. It returns any other text unchanged.
func FoldDigest(sha256 string) string {
	if anyDigest.MatchString(sha256) {
		return strings.ToLower(sha256)
	}
	return sha256
}

// ErrDamaged is the error for a stored body that does not match its digest.
var ErrDamaged error = Errorf(Internal, "the body of an artifact is damaged").
	Suggest("store the artifact again to repair it, or restore the newest backup")

// ArtifactTotals are sums over all stored bodies, without the removed ones.
type ArtifactTotals struct {
	Artifacts int64 `json:"artifacts" doc:"How many bodies are stored."`
	Bytes     int64 `json:"bytes" doc:"Their bytes together."`
	Refs      int64 `json:"refs" doc:"Pairs of a message and a body it refers to."`
}

// TooLargeArtifact returns the error for a body over the limit. The error does not name the size of the body, because the
// hub stops reading at the limit.
func TooLargeArtifact(limit int64) *Error {
	return Errorf(BadInput, "an artifact has more than %d bytes, which is the limit", limit).
		Because(TooLarge).Suggest("split it, or refer to it by a path")
}
