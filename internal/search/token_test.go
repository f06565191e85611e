package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		" \t\n-–—!?…":                  "",
		"Hello, World!":                "hello world",
		"foo_bar-baz.go":               "foo bar baz go",
		"arya@winterfell.org":          "arya winterfell org",
		"https://a.example/x?y=1#z":    "https a example x y 1 z",
		"E004: 3.14 v2":                "e004 3 14 v2",
		"Straße STRASSE":               "strasse strasse",
		"Zoë ZOE\u0308":                "zoë zoë",
		"co\u00adoperate":              "cooperate",
		"ｆｕｌｌ ①²":                      "full 12",
		"Foo™ №5":                      "foo tm no 5",
		"消息":                           "消息",
		"通信协议":                         "通信 信协 协议",
		"中":                            "中",
		"Agent 通信 v1":                  "agent 通信 信 v1",
		"PM分配任务ok":                     "pm 分配 配任 任务 务 ok",
		"サーバー":                         "サー ーバ バー",
		"ｻｰﾊﾞｰ":                        "サー ーバ バー",
		"か\u3099く":                     "がく",
		"한국어":                          "한국 국어",
		"ภาษา":                         "ภา าษ ษา",
		"ship it 🚀🚀 👩\u200d💻 ✅":        "ship it 🚀 🚀 👩 💻 ✅",
		"⭐ at ⏰ 9 ⌛ ⬆\ufe0f":           "⭐ at ⏰ 9 ⌛ ⬆",
		"├── inbox/":                   "inbox",
		"naïve\u0301\u0301 \u0301mark": "naïvé\u0301 mark",
		"\xff\xfeok\xff":               "ok",
		"\ue000a \ue001":               "a",
	} {
		if got := strings.Join(words(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestSinglesAreBesideThePairs(t *testing.T) {
	t.Parallel()
	var got []string
	for token := range Tokens("消息 中 ok") {
		if token.Single {
			got = append(got, token.Word)
		}
	}
	if !slices.Equal(got, []string{"消"}) { // 息 is the last, 中 a word by itself
		t.Errorf("got %q", got)
	}
}

func TestTokensSayWhereTheyStand(t *testing.T) {
	t.Parallel()
	const text = "Zoë: ＡＢ x分配x é"
	var got []string
	for token := range Tokens(text) {
		got = append(got, text[token.Start:token.End])
	}
	if want := []string{"Zoë", "ＡＢ", "x", "分配", "分", "配", "x", "é"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongWordsBecomeSeveral(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 100)
	got := words(long)
	if strings.Join(got, "") != long || len(got) != 4 || len(got[0]) != maxRunes {
		t.Errorf("got %q", got)
	}
	// However many marks, no word gets long, and what follows is found.
	for _, word := range words("a" + strings.Repeat("\u0301", 1000) + "中" + strings.Repeat("\u0302", 1000) + "b") {
		if n := utf8.RuneCountInString(word); n > maxMarks+1 {
			t.Errorf("a word has %d characters", n)
		}
	}
}

func TestTokensCanBeLeftEarly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one two", "中文字 x", strings.Repeat("x", 300)} {
		n := 0
		for range Tokens(text) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%q: %d tokens", text, n)
		}
	}
}

// checkTokens requires what holds for every text.
func checkTokens(t interface{ Errorf(string, ...any) }, text string) {
	for token := range Tokens(text) {
		if token.Start < 0 || token.End > len(text) || token.Start >= token.End {
			t.Errorf("%q: %+v is not in it", text, token)
		}
		if n := utf8.RuneCountInString(token.Word); n == 0 || n > maxRunes+maxMarks {
			t.Errorf("%q: %q has %d characters", text, token.Word, n)
		}
		if again := words(token.Word); !slices.Equal(again, []string{token.Word}) {
			t.Errorf("%q: %q becomes %q", text, token.Word, again)
		}
		if strings.ContainsAny(token.Word, " \x00'\"\\*():-\ue000\ue001") {
			t.Errorf("%q: %q has a sign that means something to a database", text, token.Word)
		}
	}
	if folded := words(parley.Fold(text)); utf8.ValidString(text) && strings.Join(words(text), "") == "" && len(folded) > 0 {
		t.Errorf("%q has no words, folded it has %q", text, folded)
	}
}

var someTexts = rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("aBé 中文字消かが\u3099ﾞｶｰー한ㅎภา🚀™㍿1_-.'\"\u0301\u200d")), 0, 40, -1))

func TestTokensOfAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkTokens(t, someTexts.Draw(t, "text")) })
}

func TestTokensOfEachCharacter(t *testing.T) {
	t.Parallel()
	for r := range utf8.MaxRune + 1 {
		if utf8.ValidRune(r) {
			checkTokens(t, string(r))
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, text := range []string{"Hello", "通信协议 v1.0", "ｻｰﾊﾞｰ", "🚀 foo_bar", "\u0301x", "ﷺ㍿™", "ᄒ\u0301ᅡ", "İ", "\u0345"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTokens(t, text) })
}
