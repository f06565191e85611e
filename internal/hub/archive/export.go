package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const exportPage = 500

// Export writes a whole conversation: as JSON lines, the conversation first, then its messages and
// its notes, or as Markdown.
func (s *Service) Export(ctx context.Context, caller unit.Caller, ref, format string, w io.Writer) error {
	write, ok := map[string]func(io.Writer, any) error{"jsonl": writeJSONLine, "markdown": writeMarkdown}[format]
	if !ok {
		return parley.Errorf(parley.BadInput, "unknown export format %q", format).Suggest("use jsonl or markdown")
	}
	view, err := s.channels.Conversation(ctx, caller, ref)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := write(out, view); err != nil {
		return err
	}
	for page := (parley.Page{Forward: true, Limit: exportPage}); ; {
		list, err := s.reading.History(ctx, caller, view.ID, page)
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := write(out, m); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			break
		}
		page.After = list[len(list)-1].Seq
	}
	if err := s.writeConversationNotes(ctx, caller, view.ID, out, write); err != nil {
		return err
	}
	return out.Flush()
}

// writeJSONLine leaves < and > as they are, so that bodies come out byte for byte.
func writeJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func writeMarkdown(w io.Writer, v any) error {
	var out strings.Builder
	switch v := v.(type) {
	case parley.ConversationView:
		fmt.Fprintf(&out, "# %s\n\n%s · %d messages · %s\n", v.Title(), v.Kind, v.Messages, strings.Join(v.Members, ", "))
		quote(&out, v.DisplayName)
		quote(&out, v.Topic)
	case noteLine:
		writeNoteMarkdown(&out, v.Note)
	case parley.Message:
		to := ""
		if v.To != "" {
			to = " → " + v.To
		}
		fmt.Fprintf(&out, "\n## %s%s\n\n%s · %s · %s\n", v.From, to, v.CreatedAt.Format(time.RFC3339), v.Type, v.ID)
		if v.RedactedAt != nil {
			fmt.Fprintf(&out, "\nRedacted %s\n", v.RedactedAt.Format(time.RFC3339))
		}
		if v.Damage != nil {
			fmt.Fprintf(&out, "\n%s%d (%s)\n", parley.DamagedLine, v.Seq, v.ID)
		}
		quote(&out, v.Content.Text)
		quoteCode(&out, v.Content.Code)
		quoteCode(&out, string(v.Payload))
		for _, a := range v.Content.Artifacts {
			quote(&out, strings.TrimSpace("Artifact: "+strings.Join([]string{a.Name, a.Path, a.SHA256}, " ")))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// lineEnds replaces everything that Markdown treats as the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// quote writes a text as a Markdown quotation, so that no part of the text looks like another message.
func quote(out *strings.Builder, text string) {
	if text == "" {
		return
	}
	out.WriteString("\n")
	for line := range strings.SplitSeq(lineEnds.Replace(text), "\n") {
		out.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
}

// quoteCode writes code as a quotation, in a fence that is longer than any run of backticks in the code.
func quoteCode(out *strings.Builder, code string) {
	if code == "" {
		return
	}
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	quote(out, fence+"\n"+code+"\n"+fence)
}
