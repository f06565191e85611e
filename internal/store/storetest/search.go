package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var searchTests = []test{
	{"an empty index finds nothing", searchEmpty},
	{"words, phrases and beginnings are found, without messages that contain excluded words", searchWords},
	{"a gap splits phrases, and a single word after a gap is found", searchGaps},
	{"documents and mark are written together or not at all", searchWritesAtomically},
	{"indexing from an old mark writes nothing", searchRefusesOldMark},
	{"the mark only moves forward", searchForward},
	{"each filter selects messages", searchFilters},
	{"times select messages, even after the clock went back", searchTimes},
	{"an unanswered message was delivered and has no reply", searchUnanswered},
	{"a reader finds messages in its own conversations and in public channels", searchReader},
	{"a reader of many conversations finds no messages of others", searchManyConversations},
	{"messages of a deleted conversation are not found", searchSkipsDeleted},
	{"purging a conversation erases its words", searchPurged},
	{"a forgotten message is not found, and not indexed from an earlier read", searchForgotten},
	{"pages show every match once", searchPages},
	{"pages of large messages are shorter", searchLarge},
	{"participants and conversations in a query must exist", searchUnknown},
	{"words that look like queries are words", searchQuoting},
}

// document returns a document whose words are the parts of the text between spaces. A slash is a gap.
func document(m parley.Message) parley.Document {
	doc := parley.Document{Message: m, To: m.Addressees(parley.Conversation{})}
	for _, word := range strings.Fields(m.Content.Text) {
		doc.Words = append(doc.Words, strings.Trim(word, "/"))
	}
	return doc
}

func (f *fixture) mark() storage.IndexMark {
	f.Helper()
	return read(f, func(tx storage.Tx) (storage.IndexMark, error) { return tx.Search().Mark() })
}

func (f *fixture) index(list ...parley.Message) {
	f.Helper()
	from := f.mark()
	var docs []parley.Document
	for _, m := range list {
		docs = append(docs, document(m))
	}
	f.update(func(tx storage.Tx) error { return tx.Search().Index(from, list[len(list)-1].Seq, docs) })
}

// postAndIndex posts and indexes a message from arya.
func (f *fixture) postAndIndex(conversation, text string) parley.Message {
	f.Helper()
	m := f.post(newMessage(conversation, "arya", text))
	f.index(m)
	return m
}

func (f *fixture) match(q storage.SearchQuery) storage.Matches {
	f.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	return read(f, func(tx storage.Tx) (storage.Matches, error) { return tx.Search().Match(q) })
}

// requireFound requires the texts of the found messages, the newest first, with | between them.
func (f *fixture) requireFound(what string, q storage.SearchQuery, want string) {
	f.Helper()
	var got []string
	for _, m := range f.match(q).Messages {
		got = append(got, m.Content.Text)
	}
	f.same(what, strings.Join(got, "|"), want)
}

// phrases parses phrases that are separated by spaces. Words of one phrase have + between them; * marks the beginning of a word.
func phrases(text string) (list []parley.Phrase) {
	for part := range strings.FieldsSeq(text) {
		words, prefix := strings.CutSuffix(part, "*")
		list = append(list, parley.Phrase{Words: strings.Split(words, "+"), Prefix: prefix})
	}
	return list
}

func all(text string) storage.SearchQuery { return storage.SearchQuery{All: phrases(text)} }

func searchEmpty(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.posts(1, c.ID)
	f.same("mark", f.mark(), storage.IndexMark{})
	f.requireFound("a word", all("hello"), "")
	f.requireFound("everything", storage.SearchQuery{}, "")
}

func searchWords(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for _, text := range []string{"a b c", "c b a", "abc b", "消息 息格 格式", "b b zoë"} {
		m := f.postAndIndex(c.ID, text)
		f.same("mark", f.mark(), storage.IndexMark{Seq: m.Seq})
	}
	for query, want := range map[string]string{
		"a": "c b a|a b c", "b": "b b zoë|abc b|c b a|a b c", "a c": "c b a|a b c", "a abc": "",
		"a+b": "a b c", "a+b+c": "a b c", "a+c": "", "b+b": "b b zoë", "b+b+b": "",
		"a*": "abc b|c b a|a b c", "a+b*": "a b c", "ab* b": "abc b", "zo*": "b b zoë", "zoe": "",
		"消息": "消息 息格 格式", "消息+息格": "消息 息格 格式", "消息+格式": "", "消*": "消息 息格 格式",
	} {
		f.requireFound(query, all(query), want)
	}
	for without, want := range map[string]string{"b": "消息 息格 格式", "a 消息": "b b zoë|abc b", "a+b a*": "b b zoë|消息 息格 格式"} {
		f.requireFound("without "+without, storage.SearchQuery{None: phrases(without)}, want)
	}
	f.requireFound("with and without", storage.SearchQuery{All: phrases("b"), None: phrases("a abc")}, "b b zoë")
}

func searchGaps(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	m := f.post(newMessage(c.ID, "arya", "a b / c"))
	doc := document(m)
	doc.Loose = []string{"d", "e", "a"}
	f.update(func(tx storage.Tx) error {
		return tx.Search().Index(storage.IndexMark{}, m.Seq, []parley.Document{doc})
	})
	for query, want := range map[string]string{
		"a+b": "a b / c", "b+c": "", "d": "a b / c", "e* c": "a b / c", "c+d": "", "d+e": "", "e+a": "",
	} {
		f.requireFound(query, all(query), want)
	}
}

func searchWritesAtomically(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	m := f.post(newMessage(c.ID, "arya", "a"))
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(tx.Search().Index(storage.IndexMark{}, m.Seq, []parley.Document{document(m)}), errOwn)
	})
	f.same("mark", f.mark(), storage.IndexMark{})
	f.requireFound("after a failed update", all("a"), "")
	f.index(m)
	f.requireFound("after another", all("a"), "a")
}

func searchRefusesOldMark(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	first, second := f.post(newMessage(c.ID, "arya", "a")), f.post(newMessage(c.ID, "arya", "b"))
	f.index(first)
	f.update(func(tx storage.Tx) error { // the update goes on after the refusal
		err := tx.Search().Index(storage.IndexMark{}, second.Seq, []parley.Document{document(first), document(second)})
		if !errors.Is(err, parley.ErrTaken) {
			return fmt.Errorf("got %w, want ErrTaken", err)
		}
		return nil
	})
	f.same("mark", f.mark().Seq, first.Seq)
	f.requireFound("once", storage.SearchQuery{}, "a")
}

func searchForward(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.postAndIndex(c.ID, "a")
	mark := f.mark()
	for _, upTo := range []int64{mark.Seq, mark.Seq - 1, 0} {
		err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Search().Index(mark, upTo, nil) })
		if err == nil {
			f.Errorf("the mark moved to %d", upTo)
		}
	}
	f.update(func(tx storage.Tx) error { return tx.Search().Index(mark, mark.Seq+5, nil) })
	f.same("mark", f.mark().Seq, mark.Seq+5)
}

func searchFilters(f *fixture) {
	longTask := strings.Repeat("task-", 1000)
	f.agents("arya", "gendry", "arya-2")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	say := func(text string, change func(*parley.Message)) {
		m := newMessage(c.ID, "arya", text)
		change(&m)
		f.index(f.post(m))
	}
	say("plain", func(*parley.Message) {})
	say("by gendry", func(m *parley.Message) { m.From = "gendry" })
	say("by arya-2", func(m *parley.Message) { m.From = "arya-2" })
	say("for gendry", func(m *parley.Message) { m.To = "gendry" })
	say("mentions gendry", func(m *parley.Message) { m.Mentions = []string{"arya-2", "gendry"} })
	say("for all", func(m *parley.Message) { m.To = parley.All })
	say("of a type", func(m *parley.Message) { m.Type = "ha_report" })
	say("of a task", func(m *parley.Message) { m.Task = "Task-9 it's" })
	say("long", func(m *parley.Message) { m.Task = longTask })
	say("traced", func(m *parley.Message) { m.TraceID = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736" })
	say("traced by a word", func(m *parley.Message) { m.TraceID = "Build-7" })
	say("elsewhere", func(m *parley.Message) { m.Conversation = other.ID })
	for _, c := range []struct {
		q    storage.SearchQuery
		want string
	}{
		{storage.SearchQuery{From: "gendry"}, "by gendry"},
		{storage.SearchQuery{Trace: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"}, "traced"},
		{storage.SearchQuery{Trace: "4BF92F3577B34DA6A3CE929D0E0E4736"}, "traced"},
		{storage.SearchQuery{Trace: "Build-7"}, "traced by a word"},
		{storage.SearchQuery{Trace: "build-7"}, ""},
		{storage.SearchQuery{From: "arya-2"}, "by arya-2"},
		{storage.SearchQuery{To: "gendry"}, "mentions gendry|for gendry"},
		{storage.SearchQuery{To: "arya-2"}, "mentions gendry"},
		{storage.SearchQuery{To: parley.All}, "for all"},
		{storage.SearchQuery{Type: "ha_report"}, "of a type"},
		{storage.SearchQuery{Task: "Task-9 it's"}, "of a task"},
		{storage.SearchQuery{Task: "task-9 it's"}, ""},
		{storage.SearchQuery{Task: longTask}, "long"},
		{storage.SearchQuery{Task: longTask + "-"}, ""},
		{storage.SearchQuery{Conversation: other.ID}, "elsewhere"},
		{storage.SearchQuery{Conversation: c.ID, From: "arya", All: phrases("of"), None: phrases("type")}, "of a task"},
	} {
		f.requireFound(fmt.Sprintf("%+v", c.q), c.q, c.want)
	}
}

func searchTimes(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	const day = 24 * 3600
	for i, seconds := range []int{0, day, 2 * day, 10, -3 * day, -100_000 * day, 3 * day} { // the clock jumped back
		m := newMessage(c.ID, "arya", fmt.Sprint("m", i))
		m.CreatedAt = at(seconds)
		f.index(f.post(m))
	}
	for _, c := range []struct {
		q    storage.SearchQuery
		want string
	}{
		{storage.SearchQuery{Before: at(day)}, "m5|m4|m3|m0"},
		{storage.SearchQuery{Before: at(0)}, "m5|m4"},
		{storage.SearchQuery{Before: at(-105_000 * day)}, ""},
		{storage.SearchQuery{After: at(day)}, "m6|m2|m1"},
		{storage.SearchQuery{After: at(3 * day)}, "m6"},
		{storage.SearchQuery{After: at(4 * day)}, ""},
		{storage.SearchQuery{After: at(0), Before: at(11)}, "m3|m0"},
		{storage.SearchQuery{After: at(1), Before: at(1)}, ""},
	} {
		f.requireFound(fmt.Sprintf("after %v before %v", c.q.After, c.q.Before), c.q, c.want)
	}
}

func searchUnanswered(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	asked, open := f.postAndIndex(c.ID, "asked"), f.postAndIndex(c.ID, "open")
	f.postAndIndex(c.ID, "for nobody")
	f.deliver(asked, "gendry")
	f.deliver(open, "gendry")
	f.requireFound("before", storage.SearchQuery{Unanswered: true}, "open|asked")
	answer := newMessage(c.ID, "gendry", "answer")
	answer.InReplyTo = asked.ID
	f.index(f.post(answer))
	f.requireFound("after", storage.SearchQuery{Unanswered: true}, "open")
}

func searchReader(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	private := newChannel("private", "arya")
	private.Visibility = parley.Private
	group := newChannel("group", "arya")
	group.Kind = parley.Group
	for _, c := range []struct {
		parley.Conversation
		members []string
	}{
		{newChannel("public", "arya"), nil},
		{private, []string{"arya", "gendry"}},
		{group, []string{"arya"}},
		{newDM("arya", "gendry"), []string{"arya", "gendry"}},
	} {
		f.conversation(c.Conversation, c.members...)
		f.postAndIndex(c.ID, "word "+string(c.Kind)+c.Name)
	}
	reads := func(reader, want string) {
		f.Helper()
		f.requireFound(reader, storage.SearchQuery{Reader: reader, All: phrases("word")}, want)
	}
	reads("", "word dm|word groupgroup|word channelprivate|word channelpublic")
	reads("gendry", "word dm|word channelprivate|word channelpublic")
	reads("sansa", "word channelpublic")
	f.requireFound("by conversation", storage.SearchQuery{Reader: "sansa", Conversation: private.ID}, "")
	f.update(func(tx storage.Tx) error { return tx.Members().Remove(private.ID, "gendry") })
	reads("gendry", "word dm|word channelpublic")
}

func searchManyConversations(f *fixture) {
	f.agents("arya", "gendry")
	mine, other := newDM("arya", "gendry"), newChannel("other", "arya")
	other.Visibility = parley.Private
	f.conversation(mine, "gendry")
	f.conversation(other)
	f.postAndIndex(mine.ID, "word mine")
	f.postAndIndex(other.ID, "word other")
	f.requireFound("gendry in one", storage.SearchQuery{Reader: "gendry", All: phrases("word")}, "word mine")
	f.update(func(tx storage.Tx) error {
		for i := range 300 {
			c := newChannel(fmt.Sprint("room-", i), "arya")
			c.Visibility = parley.Private
			if err := tx.Conversations().Insert(c); err != nil {
				return err
			}
			if err := tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "gendry"}); err != nil {
				return err
			}
		}
		return nil
	})
	f.requireFound("gendry in many", storage.SearchQuery{Reader: "gendry", All: phrases("word")}, "word mine")
	f.requireFound("the owner", all("word"), "word other|word mine")
}

func searchSkipsDeleted(f *fixture) {
	f.agents("arya")
	c, other := f.channel("general", "arya", "arya"), f.channel("other", "arya", "arya")
	f.postAndIndex(c.ID, "word gone")
	f.postAndIndex(other.ID, "word stays")
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.requireFound("by all", all("word"), "word stays")
	f.requireFound("by a member", storage.SearchQuery{Reader: "arya", All: phrases("word")}, "word stays")
	f.missing("the conversation", func(tx storage.Tx) error {
		return errorOf(tx.Search().Match(storage.SearchQuery{Conversation: c.ID, Limit: 9}))
	})
}

func searchPurged(f *fixture) {
	f.agents("arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	for i := range 7 {
		f.postAndIndex([]string{c.ID, other.ID}[i%2], fmt.Sprint("word ", i))
	}
	late := f.post(newMessage(c.ID, "arya", "late"))
	before := f.mark()
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	for f.purge(2) > 0 {
		continue
	}
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return tx.Search().Index(before, late.Seq, []parley.Document{document(late)})
	})
	f.requireFound("what stays", all("word"), "word 5|word 3|word 1")
	after := f.mark()
	if after.Seq != before.Seq || after.Erased <= before.Erased {
		f.Errorf("the mark went from %+v to %+v", before, after)
	}
	f.postAndIndex(other.ID, "word new")
	f.requireFound("afterwards", all("word"), "word new|word 5|word 3|word 1")
}

func searchForgotten(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	first, second := f.postAndIndex(c.ID, "word one"), f.postAndIndex(c.ID, "word two")
	third := f.post(newMessage(c.ID, "arya", "word three"))
	before := f.mark()
	f.update(func(tx storage.Tx) error { return tx.Search().Forget(first.Seq, third.Seq) })
	f.requireFound("what stays", all("word"), "word two")
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return tx.Search().Index(before, third.Seq, []parley.Document{document(third)})
	})
	f.index(third)
	f.update(func(tx storage.Tx) error { return tx.Search().Forget(second.Seq) })
	f.requireFound("what stays then", all("word"), "word three")
}

func searchPages(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for i := range 10 {
		f.postAndIndex(c.ID, fmt.Sprint("word ", i))
	}
	for limit := 1; limit <= 11; limit++ {
		var got []string
		q := all("word")
		q.Limit = limit
		for {
			page := f.match(q)
			if len(page.Messages) > limit {
				f.Fatalf("%d messages, the limit is %d", len(page.Messages), limit)
			}
			for _, m := range page.Messages {
				got = append(got, m.Content.Text[5:])
			}
			if q.Below = page.Rest; page.Rest == 0 {
				break
			}
		}
		f.same(fmt.Sprint("pages of ", limit), strings.Join(got, ""), "9876543210")
	}
	q := all("word")
	q.Limit = 11
	f.same("nothing more", f.match(q).Rest, int64(0))
}

func searchLarge(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	large := strings.Repeat("x", 1<<20)
	for range 20 {
		m := newMessage(c.ID, "arya", "word "+large)
		m = f.post(m)
		m.Content.Text = "word"
		f.index(m)
	}
	var pages, total int
	for q := all("word"); ; pages++ {
		page := f.match(q)
		total += len(page.Messages)
		if q.Below = page.Rest; page.Rest == 0 {
			break
		}
	}
	if pages < 1 || total != 20 {
		f.Errorf("%d messages in %d pages", total, pages+1)
	}
}

func searchUnknown(f *fixture) {
	for name, q := range map[string]storage.SearchQuery{
		"sender": {From: "nobody"}, "recipient": {To: "nobody"}, "reader": {Reader: "nobody"}, "conversation": {Conversation: newID()},
	} {
		q.Limit = 9
		f.missing(name, func(tx storage.Tx) error { return errorOf(tx.Search().Match(q)) })
	}
}

func searchQuoting(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for _, text := range []string{"and or not near", "null true", "tokens rank rowid", "🚀 é"} {
		f.postAndIndex(c.ID, text)
		f.requireFound(text, all(text), text)
		f.requireFound(text+" in a row", all(strings.ReplaceAll(text, " ", "+")), text)
	}
	f.requireFound("a tag is no word", all("a f c"), "")
}
