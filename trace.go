package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

const maxTraceBytes = 128

// CheckTrace says why a string cannot be a trace id, or nil.
func CheckTrace(id string) error {
	if err := checkText("trace_id", id, maxTraceBytes); err != nil {
		return err
	}
	if strings.ContainsFunc(id, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return Errorf(BadInput, "trace_id %q contains a space or control character", id).
			Suggest("use a UUID, 32 hexadecimal digits, or one word")
	}
	return nil
}

// TraceBytes is the OpenTelemetry id of a trace: the id itself where it is a UUID or 32
// hexadecimal digits, else the first 16 bytes of its SHA-256.
func TraceBytes(id string) [16]byte {
	if raw, ok := parseUUID(id); ok {
		return raw
	}
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == 16 {
		return [16]byte(raw)
	}
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// TraceKey is what all ways to write the id of one trace have in common: its OpenTelemetry id in hexadecimal.
func TraceKey(id string) string {
	raw := TraceBytes(id)
	return hex.EncodeToString(raw[:])
}

// IsUUID says whether a string is a UUID in its usual form, in any case.
func IsUUID(s string) bool {
	_, ok := parseUUID(s)
	return ok
}

func parseUUID(s string) (id [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, false
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return id, false
	}
	return [16]byte(raw), true
}
