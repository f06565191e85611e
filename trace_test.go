package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTraceIDs(t *testing.T) {
	for _, id := range []string{"", "t", "trace-1", "4bf92f3577b34da6a3ce929d0e0e4736", "ü", strings.Repeat("x", 128)} {
		if err := CheckTrace(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"a b", "a\n", "\t", "a\x00", "a\u00a0b", "\x7f", "\xff", strings.Repeat("x", 129)} {
		refused(t, CheckTrace(id), "trace_id")
	}
	refused(t, CheckTrace(strings.Repeat("x", 129)), "128", "129")
}

func TestTraceBytes(t *testing.T) {
	const want = "0190a8c45f4e70008000aabbccddeeff"
	for _, id := range []string{
		want, strings.ToUpper(want),
		"0190a8c4-5f4e-7000-8000-aabbccddeeff", "0190A8C4-5F4E-7000-8000-AABBCCDDEEFF",
	} {
		if got := TraceBytes(id); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s: got %x", id, got)
		}
	}
	for _, id := range []string{
		"", "x", want[:31], want[:30], want + "00", want[:31] + "g", "0190a8c45f4e-7000-8000-aabbccddeeff-----",
		"{0190a8c4-5f4e-7000-8000-aabbccddeeff}", "0190a8c4_5f4e_7000_8000_aabbccddeeff", "0190a8c4-5f4e-7000-8000-aabbccddeefg",
		"0190a8c4-5f4e-7000-8000aabbccddeeff-",
	} {
		sum := sha256.Sum256([]byte(id))
		if got := TraceBytes(id); got != [16]byte(sum[:16]) {
			t.Errorf("%q: got %x, want the start of its SHA-256", id, got)
		}
		if IsUUID(id) {
			t.Errorf("%q is taken for a UUID", id)
		}
	}
}

func TestEveryUUIDIsItsOwnTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "raw")
		raw[0] |= 1 // zeros are none
		h := hex.EncodeToString(raw)
		id := h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		if !IsUUID(id) || TraceBytes(id) != [16]byte(raw) || TraceBytes(h) != [16]byte(raw) {
			t.Fatalf("%s gives %x", id, TraceBytes(id))
		}
	})
}

// TestZerosAreNoOpenTelemetryID: who gives them as a trace id still has a trace that can be exported.
func TestZerosAreNoOpenTelemetryID(t *testing.T) {
	short, long := TraceKey("00000000000000000000000000000000"), TraceKey("00000000-0000-0000-0000-000000000000")
	if short != long {
		t.Errorf("written in two ways it is %s and %s", short, long)
	}
	if _, ok := ParseTraceParent(TraceParent(short, MessageSpan("m"))); !ok || short == "00000000000000000000000000000000" {
		t.Errorf("%s cannot be exported", short)
	}
}
