package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
)

const maxTraceBytes = 128

// CheckTrace returns why a string cannot be a trace id, or nil.
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

// TraceBytes returns the OpenTelemetry id of a trace. This is the id itself if it is a UUID or 32 hexadecimal digits, else the
// first 16 bytes of its SHA-256. An id of zeros counts as another text, because OpenTelemetry does not allow it.
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

// TraceKey returns the OpenTelemetry id of a trace in hexadecimal. It is the same for all spellings of one id.
func TraceKey(id string) string {
	raw := TraceBytes(id)
	return hex.EncodeToString(raw[:])
}

// MessageSpan returns the OpenTelemetry id of the span of a message.
func MessageSpan(id string) [8]byte { return spanBytes("message", id) }

// StateSpan returns the OpenTelemetry id of the span for a delivery that reaches a state. A delivery can reach a state several
// times; attempt distinguishes the spans. It is the id of the run that was woken, or a number.
func StateSpan(message, recipient string, state DeliveryState, attempt string) [8]byte {
	return spanBytes("rung", message, recipient, string(state), attempt)
}

// RunSpan returns the OpenTelemetry id of the span of a run.
func RunSpan(id string) [8]byte { return spanBytes("run", id) }

// spanBytes returns the id of a span, derived from its names, so that every exporter gives a span the same id.
func spanBytes(names ...string) (id [8]byte) {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	copy(id[:], sum[:])
	id[7] |= 1 // OpenTelemetry does not allow an id of zeros
	return id
}

// TraceParent returns the W3C traceparent of a span, for HTTP headers and the environment of programs.
func TraceParent(trace string, span [8]byte) string {
	return "00-" + TraceKey(trace) + "-" + hex.EncodeToString(span[:]) + "-01"
}

var traceParentPattern = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// ParseTraceParent returns the trace id of a W3C traceparent. ok is false for an invalid one, which the standard says to ignore.
func ParseTraceParent(text string) (trace string, ok bool) {
	part := traceParentPattern.FindStringSubmatch(text)
	if part == nil || part[1] == "ff" || part[1] == "00" && part[4] != "" ||
		strings.Trim(part[2], "0") == "" || strings.Trim(part[3], "0") == "" {
		return "", false
	}
	return part[2], true
}

// IsUUID reports whether a string is a UUID with dashes, in upper or lower case.
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
