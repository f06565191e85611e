package dialect

import (
	"encoding/json"
	"sort"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// EncodeWithin writes a departure as a document of at most limit bytes. Of one that is longer, what is under metadata.parley is left
// out but for who wrote which part of the hub's text, and its text is cut as far as need be; metadata.truncated says so, and metadata.artifact where the whole is: at reference, a
// path. E003 if even that does not fit.
func EncodeWithin(d Dialect, out parley.Departure, limit int, reference string) ([]byte, error) {
	whole, err := Encode(d, out)
	if err != nil || len(whole) <= limit {
		return whole, err
	}
	text := out.Message.Content.Text
	// The smallest number of bytes to leave out.
	left := sort.Search(len(text)+1, func(n int) bool { return len(cut(d, out, len(text)-n, reference)) <= limit })
	if left > len(text) {
		return nil, parley.Errorf(parley.BadInput, "as a message of %s it has %d bytes, the limit is %d, and cutting its text does not help", d, len(whole), limit).
			Because(parley.TooLarge).Suggest("make its payload smaller, or send an artifact")
	}
	return cut(d, out, len(text)-left, reference), nil
}

// cut writes a departure with no more than so many bytes of its text.
func cut(d Dialect, out parley.Departure, length int, reference string) []byte {
	text := out.Message.Content.Text
	for length > 0 && length < len(text) && !utf8.RuneStart(text[length]) {
		length--
	}
	want := viewOf(out)
	want.Text = text[:length]
	if d == AgentOS {
		want.Artifacts = append(want.Artifacts[:len(want.Artifacts):len(want.Artifacts)], parley.Artifact{Path: reference})
	}
	doc := write(d, want, out)
	doc.take("metadata", ours)
	if out.Message.From == parley.System {
		doc.put("metadata", ours, object{{of, encode(want.name)}, {"metadata", quotes(out.Message.Wording().Cut(length))}})
	}
	doc.put("metadata", "truncated", true)
	doc.put("metadata", "artifact", reference)
	return encode(doc)
}

// quotes are the metadata of a message of the hub's that says these words.
func quotes(w parley.Wording) json.RawMessage {
	said, err := parley.Message{}.Say(w)
	if err != nil {
		return nil // there is no metadata that could not be read
	}
	return said.Metadata
}
