package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var bridgeFileTests = []test{
	{"a file is recognized by its path and digest, within its bridge", fileKnown},
	{"of many files the known ones are found", filesKnown},
	{"a file can be added once", fileTaken},
	{"files are found by name, the newest first, refused ones last", fileNamed},
	{"the file of a message is found", fileOfMessage},
	{"the greatest name with a prefix is found", fileGreatestName},
	{"a file outlives its message", fileOutlives},
}

func (f *fixture) file(bridge string, file parley.BridgeFile) storage.FileRow {
	f.Helper()
	return read(f, func(tx storage.Tx) (storage.FileRow, error) { return tx.Bridges().File(bridge, file) })
}

// bridgeWithMessage adds a bridge, and a channel with a message.
func (f *fixture) bridgeWithMessage() (parley.Conversation, parley.Message) {
	f.Helper()
	f.agents("arya", "gendry")
	f.bridges(newBridge("tree"), newBridge("other"))
	c := f.channel("general", "arya")
	return c, f.post(newMessage(c.ID, "arya", "hello"))
}

func fileKnown(f *fixture) {
	_, m := f.bridgeWithMessage()
	full := storage.FileRow{
		Bridge: "tree", File: parley.BridgeFile{Path: "a/é b.json", Digest: "00ff"}, Name: "msg_é", From: "nobody", Message: m.ID, At: at(5),
	}
	plain, refused := newFile("tree", "a/é b.json", m.ID), newFile("other", "a/é b.json", "")
	f.addFiles(full, plain, refused)
	for _, want := range []storage.FileRow{full, plain, refused} {
		f.same("file", f.file(want.Bridge, want.File), want)
	}
	for _, file := range []parley.BridgeFile{{Path: "a/é b.json", Digest: "00"}, {Path: "A/é b.json"}, {}} {
		f.missing("another file", func(tx storage.Tx) error { return errorOf(tx.Bridges().File("tree", file)) })
	}
}

func filesKnown(f *fixture) {
	f.bridgeWithMessage()
	var all, known []parley.BridgeFile
	for i := range 600 {
		file := parley.BridgeFile{Path: fmt.Sprintf("inbox/%03d.json", 600-i), Digest: []string{"", "00"}[i%2]}
		all = append(all, file)
		if i%3 == 0 {
			known = append(known, file)
			f.addFiles(storage.FileRow{Bridge: "tree", File: file, At: at(1)})
		}
	}
	changed := known[0]
	changed.Digest = "ff"
	got := read(f, func(tx storage.Tx) ([]parley.BridgeFile, error) {
		return tx.Bridges().KnownFiles("tree", append(all, changed))
	})
	f.same("known", got, known)
	got = read(f, func(tx storage.Tx) ([]parley.BridgeFile, error) { return tx.Bridges().KnownFiles("other", all) })
	f.same("known to another", got, []parley.BridgeFile{})
}

func fileTaken(f *fixture) {
	_, m := f.bridgeWithMessage()
	file := newFile("tree", "a.json", m.ID)
	f.addFiles(file)
	again := file
	again.Name, again.Message, again.At = "other", "", at(9)
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().AddFile(again) })
	f.same("the first", f.file("tree", file.File), file)
}

func fileNamed(f *fixture) {
	_, m := f.bridgeWithMessage()
	older, newer, refused, elsewhere := newFile("tree", "a.json", m.ID), newFile("tree", "b.json", m.ID), newFile("tree", "c.json", ""), newFile("other", "d.json", "")
	newer.At, newer.From, refused.At, elsewhere.At = at(5), "gendry", at(9), at(10)
	named := func(name, from string) storage.FileRow {
		return read(f, func(tx storage.Tx) (storage.FileRow, error) { return tx.Bridges().FileNamed("tree", name, from) })
	}
	f.addFiles(refused, elsewhere)
	f.same("refused", named("name", ""), refused)
	f.addFiles(newer, older)
	f.same("the newest", named("name", ""), newer)
	f.same("from one", named("name", "arya"), older)
	f.missing("of another name", func(tx storage.Tx) error { return errorOf(tx.Bridges().FileNamed("tree", "Name", "")) })
	f.missing("from another", func(tx storage.Tx) error { return errorOf(tx.Bridges().FileNamed("tree", "name", "sansa")) })
}

func fileOfMessage(f *fixture) {
	c, m := f.bridgeWithMessage()
	other := f.post(newMessage(c.ID, "arya", "again"))
	file := newFile("tree", "a.json", m.ID)
	f.addFiles(file, newFile("tree", "b.json", ""))
	f.same("came by", read(f, func(tx storage.Tx) (storage.FileRow, error) { return tx.Bridges().FileOfMessage("tree", m.ID) }), file)
	for bridge, id := range map[string]string{"tree": other.ID, "other": m.ID} {
		f.missing("what did not come", func(tx storage.Tx) error { return errorOf(tx.Bridges().FileOfMessage(bridge, id)) })
	}
	f.missing("no message", func(tx storage.Tx) error { return errorOf(tx.Bridges().FileOfMessage("tree", "no uuid")) })
}

// fileOutlives erases messages in every way. A redacted message still exists.
func fileOutlives(f *fixture) {
	c, redacted := f.bridgeWithMessage()
	gone := f.channel("gone", "arya")
	deleted, erased := f.post(newMessage(gone.ID, "arya", "hello")), f.post(newMessage(c.ID, "arya", "hello"))
	var files []storage.FileRow
	for i, m := range []parley.Message{redacted, deleted, erased} {
		files = append(files, newFile("tree", fmt.Sprintf("%d.json", i), m.ID))
	}
	f.addFiles(files...)
	departed := f.addDepartures(
		newDeparture("tree", "arya", "0", redacted.ID), newDeparture("tree", "arya", "1", deleted.ID), newDeparture("tree", "arya", "2", erased.ID),
	)
	f.update(func(tx storage.Tx) error {
		return errors.Join(
			tx.Messages().Redact(redacted.Redacted(at(9))), tx.Conversations().Delete(gone.ID),
			errorOf(tx.Retention().Erase(erased.Seq-1, erased.Seq)),
		)
	})
	look := func() {
		f.Helper()
		for i := range files {
			f.same("file", f.file("tree", files[i].File), files[i])
			f.same("departure", f.departureAt(departed[i].Num), departed[i])
		}
	}
	files[1].Message, files[2].Message, departed[1].Message, departed[2].Message = "", "", "", ""
	look()
	f.update(func(tx storage.Tx) error { return errorOf(tx.Conversations().Purge(noLimit)) })
	look()
}

func fileGreatestName(f *fixture) {
	f.bridgeWithMessage()
	for i, name := range []string{"msg-1-ana-0002", "msg-1-ana-000a", "msg-1-ana-0009", "msg-1-ben-ffff"} {
		file := newFile("tree", fmt.Sprintf("%d.json", i), "")
		file.Name = name
		f.addFiles(file)
	}
	last := read(f, func(tx storage.Tx) (storage.FileRow, error) { return tx.Bridges().LastFile("tree", "msg-1-ana-") })
	f.same("the greatest", last.Name, "msg-1-ana-000a")
	f.missing("another", func(tx storage.Tx) error { return errorOf(tx.Bridges().LastFile("tree", "msg-2-")) })
	f.missing("of another bridge", func(tx storage.Tx) error { return errorOf(tx.Bridges().LastFile("other", "msg-1-")) })
}
