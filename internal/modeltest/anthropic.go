package modeltest

import "encoding/json"

func writeAnthropic(x *wire, a Answer) {
	stop := "end_turn"
	if len(a.Calls) > 0 {
		stop = "tool_use"
	}
	stop = orDefault(a.Stop, stop)
	message := object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": x.request.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": a.Input, "output_tokens": 1},
	}
	if !x.request.Stream {
		message["content"], message["stop_reason"] = anthropicContent(a), stop
		message["usage"] = object{"input_tokens": a.Input, "output_tokens": a.Output}
		x.document(message)
		return
	}
	x.begin()
	x.event("message_start", object{"type": "message_start", "message": message})
	x.event("ping", object{"type": "ping"})
	if anthropicBlocks(x, a) {
		return
	}
	x.event("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": a.Output},
	})
	x.event("message_stop", object{"type": "message_stop"})
}

// anthropicBlocks streams the content, and reports whether a fault ended the stream.
func anthropicBlocks(x *wire, a Answer) bool {
	index := 0
	block := func(start object, deltas ...object) {
		x.event("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		for _, d := range deltas {
			x.event("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
		}
	}
	end := func() {
		x.event("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if a.Text != "" || a.Fault != None {
		var deltas []object
		for _, piece := range pieces(a.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas...)
		if x.fails(a.Fault, func() {
			x.event("error", object{"type": "error", "error": object{"type": "overloaded_error", "message": "Overloaded"}})
		}) {
			return true
		}
		end()
	}
	for _, c := range a.Calls {
		var deltas []object
		for _, piece := range pieces(c.Args) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas...)
		end()
	}
	return false
}

func anthropicContent(a Answer) (content []any) {
	if a.Text != "" {
		content = append(content, object{"type": "text", "text": a.Text})
	}
	for _, c := range a.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	return content
}
