package parley

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const someID = "019ab3c4-5d6e-7f80-91a2-b3c4d5e6f708"

func TestShortNamesAreReadInAnyCase(t *testing.T) {
	for text, want := range map[string]struct {
		noun   Noun
		number int64
	}{
		"task-101": {NounTask, 101}, "approval-7": {NounApproval, 7}, "run-12": {NounRun, 12}, "m1234": {NounMessage, 1234},
		"Task-101": {NounTask, 101}, "APPROVAL-7": {NounApproval, 7}, "M1234": {NounMessage, 1234}, "run-0012": {NounRun, 12},
		"m9223372036854775807": {NounMessage, 1<<63 - 1},
	} {
		noun, number, ok := ParseShortName(text)
		if !ok || noun != want.noun || number != want.number {
			t.Errorf("%q: %s %d %t", text, noun, number, ok)
		}
	}
	for _, text := range []string{
		"", "m", "m-1", "task101", "task-", "task-1x", " task-1", "task-1\n", "run--1", "run-+1", "m0", "run-0", "approvals-7", "1234",
		"m9223372036854775808", "message-1", "ｍ1", "m١", strings.Repeat("m", 1<<20),
	} {
		if noun, number, ok := ParseShortName(text); ok {
			t.Errorf("%q is read as %s %d", text, noun, number)
		}
	}
}

func TestShortNamesAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noun := rapid.SampledFrom([]Noun{NounMessage, NounApproval, NounRun, NounTask}).Draw(t, "noun")
		number := rapid.Int64Min(1).Draw(t, "number")
		name := noun.ShortName(number)
		read, n, ok := ParseShortName(name)
		if !ok || read != noun || n != number {
			t.Fatalf("%s is read as %s %d %t", name, read, n, ok)
		}
		ref, ok := ParseRef(noun, strings.ToUpper(name))
		if !ok || ref != (Ref{Number: number}) {
			t.Fatalf("%s refers to %+v %t", name, ref, ok)
		}
		if err := CheckNotShortName(name); err == nil {
			t.Fatalf("somebody may be named %s", name)
		}
	})
}

func TestReferencesAreIDsShortNamesNumbersAndPieces(t *testing.T) {
	for text, want := range map[string]Ref{
		someID:                                 {ID: someID},
		strings.ToUpper(someID):                {ID: someID},
		"run-7":                                {Number: 7},
		"7":                                    {Number: 7},
		"123456":                               {Number: 123456, Piece: "123456"},
		"e6f708":                               {Piece: "e6f708"},
		"D5E6F708":                             {Piece: "d5e6f708"},
		"019ab3c4-5d":                          {Piece: "019ab3c45d"},
		strings.ReplaceAll(someID, "-", ""):    {Piece: IDPiece(strings.ReplaceAll(someID, "-", ""))},
		"a2-b3c4d5e6f708":                      {Piece: "a2b3c4d5e6f708"},
		"-e6f708":                              {Piece: "e6f708"},
		"99999999999999999999":                 {Piece: "99999999999999999999"},
		"019ab3c4-5d6e-7f80-91a2-b3c4d5e6f70":  {Piece: "019ab3c45d6e7f8091a2b3c4d5e6f70"},
		"019ab3c4-5d6e-7f80-91a2b3c4d5e6f708-": {Piece: IDPiece(strings.ReplaceAll(someID, "-", ""))},
	} {
		if ref, ok := ParseRef(NounRun, text); !ok || ref != want {
			t.Errorf("%q refers to %+v %t, want %+v", text, ref, ok, want)
		}
	}
	for _, text := range []string{"", "e6f70", "e6f70g", "m7", "task-7", "approval-7", "run-", "0", "arya", someID + "0", strings.Repeat("a", 1<<20)} {
		if ref, ok := ParseRef(NounRun, text); ok {
			t.Errorf("%q refers to %+v", text, ref)
		}
	}
}

func TestIDPiecesMatchBeginningsAndEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := strings.ReplaceAll(someID, "-", "")
		n := rapid.IntRange(minPieceDigits, len(digits)).Draw(t, "n")
		begin, ok := ParseIDPiece(strings.ToUpper(digits[:n]))
		if !ok || !begin.Begins(someID) || begin.Ends(someID) != (n == len(digits)) {
			t.Fatalf("%s is no beginning of %s", begin, someID)
		}
		end, ok := ParseIDPiece(digits[len(digits)-n:])
		if !ok || !end.Ends(someID) || end.Begins(someID) != (n == len(digits)) {
			t.Fatalf("%s is no end of %s", end, someID)
		}
	})
}

func TestNamesInTheFormOfShortNamesAreRefused(t *testing.T) {
	for _, name := range []string{"task-101", "approval-7", "run-12", "m1234", "m0", "run-0", "task-007", "m99999999999999999999"} {
		refused(t, CheckID(name), "short name")
		refused(t, CheckName(name), "short name")
		refused(t, CheckName(strings.ToUpper(name)), "short name")
		refused(t, CheckChannelName(name), "short name")
		if err := CheckKnownID(name); err != nil { // it may be older than the rule
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckKnownChannelName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		hint := AsError(CheckID(name)).Suggestion
		other := hint[strings.LastIndex(hint, " ")+1:]
		if err := CheckID(other); err != nil {
			t.Errorf("the hint for %s suggests %q: %v", name, other, err)
		}
	}
	refused(t, CheckName("ｍ12"), "short name")
	refused(t, CheckName("Run-\u200d12"), "control character")
	for _, name := range []string{"m", "m-1", "run", "run-", "run-1a", "task1", "task-101-bot", "my-run-1", "member-12", "r2d2", "12"} {
		if err := CheckID(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, text := range []string{"", "m1", "run-12", "123456", someID, "e6f708", "-----------"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, noun := range []Noun{NounMessage, NounApproval, NounRun} {
			ref, ok := ParseRef(noun, text)
			if !ok {
				continue
			}
			if ref.ID != "" && (!IsUUID(ref.ID) || ref.Number != 0 || ref.Piece != "") {
				t.Errorf("%q refers to %+v", text, ref)
			}
			if ref.ID == "" && ref.Number <= 0 && len(ref.Piece) < minPieceDigits {
				t.Errorf("%q refers to %+v", text, ref)
			}
		}
	})
}

// The display name of a conversation gives it a slug, which must be no short name either.
func TestConversationsAreNotShownUnderShortNames(t *testing.T) {
	for _, display := range []string{"Run 12", "M1234", "Task-101", "approval 7", "Ｍ12"} {
		_, _, err := ConversationName(display)
		refused(t, err, "short name")
		_, err = ConversationDisplay("project-x", display)
		refused(t, err, "short name")
	}
}
