package hook

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object of an answer.
type object map[string]any

// answerJSON returns an answer with one line of JSON.
func answerJSON(value object) answer { return answer{out: string(marshal(value))} }

// marshal returns a line of JSON in which <, > and & stay as they are, or nothing if the value has no JSON form.
func marshal(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	return text.Bytes()
}

// contextJSON is how Claude Code, Codex and Gemini CLI read a text for the context of the model.
func contextJSON(event, text string) answer {
	return answerJSON(object{"hookSpecificOutput": object{"hookEventName": event, "additionalContext": text}})
}

// permissionJSON is how Claude Code and Codex read a decision about a permission.
func permissionJSON(allow bool, why string) answer {
	decision := object{"behavior": "allow"}
	if !allow {
		decision = object{"behavior": "deny", "message": why}
	}
	return answerJSON(object{"hookSpecificOutput": object{"hookEventName": "PermissionRequest", "decision": decision}})
}

// compactJSON returns a JSON value without spaces between its parts, or the text itself if it is none.
func compactJSON(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
