package httpapi

import "net/http"

func memoryRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "remember", Method: http.MethodPost, Path: "/v1/notes", Tag: tagNotes,
			Summary: "Store a note",
			Description: "In the caller's own memory, or in that of a conversation in which the caller may post. If the caller has stored the same text " +
				"there before, the hub returns that note. A memory has at most 256 notes and 128 KiB.",
			Status:  http.StatusCreated,
			Example: `{"scope":"conversation","conversation":"project-x","text":"Deploys are on Tuesdays."}`,
		}, remember),
		jsonRoute(Operation{
			ID: "recall", Method: http.MethodGet, Path: "/v1/notes", Tag: tagNotes,
			Summary: "Read or search notes",
			Description: "Returns the notes of one memory: the caller's own, that of a conversation, or, for owners, that of any participant. Without q " +
				"the newest come first. With q, the hub returns the notes that have at least one of the words, the best first.",
		}, recall),
		emptyRoute(Operation{
			ID: "forget", Method: http.MethodDelete, Path: "/v1/notes/{note}", Tag: tagNotes,
			Summary:     "Erase a note",
			Description: "The author of the note, the creator of its conversation and owners may erase it. Nothing of it is left.",
		}, forget),
		jsonRoute(Operation{
			ID: "redact-note", Method: http.MethodPost, Path: "/v1/notes/{note}/redact", Tag: tagNotes,
			Summary:     "Erase the text of a note",
			Description: "The hub keeps the rest of the note and the digest of the text.",
			Example:     `{"reason":"contained a password"}`,
		}, redactNote),
	}
}
