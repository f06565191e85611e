package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
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
// hexadecimal digits, else the first 16 bytes of its SHA-256. Zeros are no id.
func TraceBytes(id string) [16]byte {
	raw, ok := parseUUID(id)
	if digits, err := hex.DecodeString(id); !ok && err == nil && len(digits) == len(raw) {
		raw, ok = [16]byte(digits), true
	}
	switch {
	case !ok:
		sum := sha256.Sum256([]byte(id))
		return [16]byte(sum[:16])
	case raw == [16]byte{}:
		sum := sha256.Sum256(raw[:])
		return [16]byte(sum[:16])
	default:
		return raw
	}
}

// TraceKey is what all ways to write the id of one trace have in common: its OpenTelemetry id in hexadecimal.
func TraceKey(id string) string {
	raw := TraceBytes(id)
	return hex.EncodeToString(raw[:])
}

// MessageSpan is the OpenTelemetry id of the span that a message is.
func MessageSpan(id string) [8]byte { return spanBytes("message", id) }

// RungSpan is that of the step of a message for one recipient to a state. The try tells one time from another: it is the run that
// was woken, or a count.
func RungSpan(message, recipient string, state DeliveryState, try string) [8]byte {
	return spanBytes("rung", message, recipient, string(state), try)
}

// RunSpan is that of a run.
func RunSpan(id string) [8]byte { return spanBytes("run", id) }

// spanBytes makes the id of a span from what names it: whoever tells of it again, tells of the same.
func spanBytes(names ...string) (id [8]byte) {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	copy(id[:], sum[:])
	id[7] |= 1 // zeros are no id
	return id
}

// TraceParent is how HTTP and the environment of programs say in which trace and span something happens.
func TraceParent(trace string, span [8]byte) string {
	return "00-" + TraceKey(trace) + "-" + hex.EncodeToString(span[:]) + "-01"
}

var traceParent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// ParseTraceParent is the id of the trace that a traceparent names. What is none is passed over, as the standard wants it.
func ParseTraceParent(text string) (trace string, ok bool) {
	part := traceParent.FindStringSubmatch(text)
	if part == nil || part[1] == "ff" || part[1] == "00" && part[4] != "" ||
		strings.Trim(part[2], "0") == "" || strings.Trim(part[3], "0") == "" {
		return "", false
	}
	return part[2], true
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
