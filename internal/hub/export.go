package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

const exportPage = 500

// Export writes a whole conversation: as JSON lines, the conversation first and then its messages,
// or as Markdown.
func (h *Hub) Export(ctx context.Context, caller Caller, ref, format string, w io.Writer) error {
	write, ok := map[string]func(io.Writer, any) error{"jsonl": writeJSONLine, "markdown": writeMarkdown}[format]
	if !ok {
		return parley.Errorf(parley.BadInput, "unknown export format %q", format).Suggest("use jsonl or markdown")
	}
	view, err := h.Conversation(ctx, caller, ref)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := write(out, view); err != nil {
		return err
	}
	for page := (parley.Page{Forward: true, Limit: exportPage}); ; {
		list, err := h.History(ctx, caller, view.ID, page)
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := write(out, m); err != nil {
				return err
			}
		}
		if len(list) < exportPage {
			return out.Flush()
		}
		page.After = list[len(list)-1].Seq
	}
}

// writeJSONLine leaves < and > as they are, so that bodies come out byte for byte.
func writeJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func writeMarkdown(w io.Writer, v any) (err error) {
	switch v := v.(type) {
	case View:
		_, err = fmt.Fprintf(w, "# %s\n\n%s · %d messages · %s\n", v.Title(), v.Kind, v.Messages, strings.Join(v.Members, ", "))
		if err == nil && v.Topic != "" {
			_, err = fmt.Fprintf(w, "\n%s\n", v.Topic)
		}
	case parley.Message:
		to := ""
		if v.To != "" {
			to = " → " + v.To
		}
		_, err = fmt.Fprintf(w, "\n## %s%s\n\n%s · %s · %s\n\n%s\n", v.From, to,
			v.CreatedAt.Format(time.RFC3339), v.Type, v.ID, v.Content.Text)
		if err == nil && v.Content.Code != "" {
			fence := fenceFor(v.Content.Code)
			_, err = fmt.Fprintf(w, "\n%s\n%s\n%s\n", fence, v.Content.Code, fence)
		}
	}
	return err
}

// fenceFor is a fence longer than any run of backticks in the code.
func fenceFor(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence
}
