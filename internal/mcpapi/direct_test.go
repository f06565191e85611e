package mcpapi_test

import (
	"runtime"
	"strings"
	"testing"
)

// TestACallAllocatesLittle counts the memory of calls, with that of their client. By way of the SDK, each takes about half a megabyte.
func TestACallAllocatesLittle(t *testing.T) {
	h := newHub(t, quick())
	for range 20 {
		h.SayIn("ben", "fruit", "Is the build green? It was when I looked an hour ago, but much has happened since.")
	}
	c := &web{hub: h, agent: "ana"}
	for _, one := range []struct{ tool, args string }{
		{"query_workspace", `{"action":"whoami"}`}, {"read_conversation", `{"conversation":"#fruit"}`},
	} {
		message := filled(call(one.tool, one.args), "")
		c.send(t, message) // the first call prepares statements
		const calls = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			c.send(t, message)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 300<<10 {
			t.Errorf("a call of %s allocates %d KiB", one.tool, each>>10)
		} else {
			t.Logf("a call of %s allocates %d KiB", one.tool, each>>10)
		}
	}
}

// TestPlainAndOtherCallsHaveTheSameAnswer sends calls that are answered directly, and the same with a level for logs, which the SDK answers.
func TestPlainAndOtherCallsHaveTheSameAnswer(t *testing.T) {
	h := newHub(t, quick())
	h.SayIn("ben", "fruit", "1 < 2 & \u2028 \"ripe\"")
	for _, message := range []string{
		call("query_workspace", `{"action":"whoami"}`), call("read_conversation", `{"conversation":"#fruit"}`),
		call("read_conversation", `{"conversation":"#none"}`), call("read_conversation", `{"limit":"many"}`), call("check_inbox", `{"peek":true}`),
		strings.Replace(call("query_workspace", `{"action":"whoami"}`), `"id":7`, `"id":"a <b>"`, 1),
	} {
		plain := filled(message, "")
		other := strings.Replace(plain, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1)
		if plain == other {
			t.Fatal("the messages do not differ")
		}
		c := &web{hub: h, agent: "ana"}
		got, want := c.send(t, plain), c.send(t, other)
		if got.status != want.status || string(indented(t, last(got))) != string(indented(t, last(want))) {
			t.Errorf("the answer to %s is\n%s\nand by way of the SDK\n%s", plain, last(got), last(want))
		}
	}
}
