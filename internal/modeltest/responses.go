package modeltest

func writeResponses(x *wire, a Answer) {
	items := responsesItems(a)
	response := object{
		"id": "resp_1", "object": "response", "created_at": 0, "model": x.request.Model, "status": "completed", "output": items,
		"usage": object{
			"input_tokens": a.Input, "output_tokens": a.Output, "total_tokens": a.Input + a.Output,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
	if !x.request.Stream {
		x.document(response)
		return
	}
	sequence := 0
	event := func(kind string, fields object) {
		fields["type"], fields["sequence_number"] = kind, sequence
		sequence++
		x.event(kind, fields)
	}
	x.begin()
	event("response.created", object{"response": object{
		"id": "resp_1", "object": "response", "created_at": 0, "model": x.request.Model, "status": "in_progress", "output": []any{},
	}})
	for i, item := range items {
		event("response.output_item.added", object{"output_index": i, "item": item})
		if i == 0 && a.Text != "" {
			for _, piece := range pieces(a.Text) {
				event("response.output_text.delta", object{"item_id": "msg_1", "output_index": i, "content_index": 0, "delta": piece})
			}
		}
		if x.fails(a.Fault, func() {
			event("response.failed", object{"response": object{
				"id": "resp_1", "status": "failed", "error": object{"code": "server_error", "message": "The server had an error"},
			}})
		}) {
			return
		}
		event("response.output_item.done", object{"output_index": i, "item": item})
	}
	event("response.completed", object{"response": response})
}

func responsesItems(a Answer) (items []any) {
	if a.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{
			object{"type": "output_text", "text": a.Text, "annotations": []any{}},
		}})
	}
	for _, c := range a.Calls {
		item := object{
			"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed",
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		items = append(items, item)
	}
	return items
}
