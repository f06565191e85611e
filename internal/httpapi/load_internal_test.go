package httpapi

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// narrow notes how much is written at once.
type narrow struct {
	*httptest.ResponseRecorder
	maxWritten int
}

func (n *narrow) Write(p []byte) (int, error) {
	n.maxWritten = max(n.maxWritten, len(p))
	return n.ResponseRecorder.Write(p)
}

// TestALargeAnswerIsNeverWholeInMemory: it is encoded and sent part by part.
func TestALargeAnswerIsNeverWholeInMemory(t *testing.T) {
	list := make([]string, 400)
	for i := range list {
		list[i] = strings.Repeat("x", 50_000)
	}
	out := &narrow{ResponseRecorder: httptest.NewRecorder()}
	writeJSON(out, 200, List[string]{Items: list})
	var got List[string]
	if err := json.Unmarshal(out.Body.Bytes(), &got); err != nil || !slices.Equal(got.Items, list) {
		t.Errorf("the answer is another one: %v", err)
	}
	if out.maxWritten > 256<<10 {
		t.Errorf("%d bytes of %d were sent at once", out.maxWritten, out.Body.Len())
	}
}

// TestThePacesAreThoseOfTheDocumentation.
func TestThePacesAreThoseOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("| pace of an upload | %d KiB in %s |", bodyPartSize>>10, bodyPartTime),
		fmt.Sprintf("| a reader that does not read its answer | cut off after %s |", sendPartTime),
		fmt.Sprintf("| a reader of events that does not read | cut off after %s |", sendTime),
	} {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/security.md has no row %q", row)
		}
	}
}
