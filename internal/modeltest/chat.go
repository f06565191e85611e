package modeltest

func writeChat(x *wire, a Answer) {
	stop := "stop"
	if len(a.Calls) > 0 {
		stop = "tool_calls"
	}
	stop = orDefault(a.Stop, stop)
	usage := object{"prompt_tokens": a.Input, "completion_tokens": a.Output, "total_tokens": a.Input + a.Output}
	if !x.request.Stream {
		x.document(object{
			"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": x.request.Model, "usage": usage,
			"choices": []any{object{"index": 0, "finish_reason": stop, "message": object{
				"role": "assistant", "content": a.Text, "tool_calls": chatCalls(a),
			}}},
		})
		return
	}
	chunk := func(choices []any, usage any) {
		x.event("", object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": x.request.Model,
			"choices": choices, "usage": usage,
		})
	}
	delta := func(d object, stop any) { chunk([]any{object{"index": 0, "delta": d, "finish_reason": stop}}, nil) }
	x.begin()
	delta(object{"role": "assistant", "content": ""}, nil)
	if chatDeltas(x, a, delta) {
		return
	}
	delta(object{}, stop)
	chunk([]any{}, usage)
	x.raw("data: [DONE]\n\n")
}

// chatDeltas streams the content, and reports whether a fault ended the stream.
func chatDeltas(x *wire, a Answer, delta func(object, any)) bool {
	if a.Text != "" {
		for _, piece := range pieces(a.Text) {
			delta(object{"content": piece}, nil)
		}
	}
	if x.fails(a.Fault, func() {
		x.event("", object{"error": object{"message": "The server had an error", "type": "server_error", "code": nil}})
	}) {
		return true
	}
	if a.Refusal != "" {
		delta(object{"refusal": a.Refusal}, nil)
	}
	for i, c := range a.Calls {
		delta(object{"tool_calls": []any{object{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""},
		}}}, nil)
		for _, piece := range pieces(c.Args) {
			delta(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	return false
}

func chatCalls(a Answer) (calls []any) {
	for _, c := range a.Calls {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	return calls
}
