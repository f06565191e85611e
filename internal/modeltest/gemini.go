package modeltest

import "encoding/json"

func writeGemini(x *wire, a Answer) {
	chunk := func(parts []any, stop any) object {
		return object{
			"candidates":   []any{object{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": stop}},
			"modelVersion": x.request.Model, "responseId": "resp-1",
			"usageMetadata": object{
				"promptTokenCount": a.Input, "candidatesTokenCount": a.Output, "totalTokenCount": a.Input + a.Output,
			},
		}
	}
	var parts []any
	for _, c := range a.Calls {
		parts = append(parts, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": json.RawMessage(c.Args)}})
	}
	stop := orDefault(a.Stop, "STOP")
	if !x.request.Stream {
		x.document(chunk(append([]any{object{"text": a.Text}}, parts...), stop))
		return
	}
	x.begin()
	if a.Text != "" {
		for _, piece := range pieces(a.Text) {
			x.event("", chunk([]any{object{"text": piece}}, nil))
		}
	}
	if x.fails(a.Fault, func() {
		x.event("", object{"error": object{"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}})
	}) {
		return
	}
	if len(parts) == 0 { // an answer with calls must have no empty text, because clients take that for an empty answer
		parts = []any{object{"text": ""}}
	}
	x.event("", chunk(parts, stop))
}
