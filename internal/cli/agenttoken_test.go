package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/home"
)

// TestAStoredTokenGoesToItsHubOnly: whatever the environment of the client says.
func TestAStoredTokenGoesToItsHubOnly(t *testing.T) {
	dir, socket := hookHome(t)
	const url, other = "https://hub.example.org", "http://evil.example.org"
	for name, test := range map[string]struct {
		hub, url, token string // the hub of the token, and the environment
		want            client.Options
	}{
		"the hub of the home":         {"", "", "", client.Options{Socket: socket, Token: "parley_test"}},
		"its socket":                  {"", "unix://" + socket, "", client.Options{URL: "unix://" + socket, Token: "parley_test"}},
		"a hub elsewhere":             {url, "", "", client.Options{URL: url, Token: "parley_test"}},
		"the same one":                {url, "https://HUB.example.org/", "", client.Options{URL: "https://HUB.example.org/", Token: "parley_test"}},
		"another one":                 {"", other, "", client.Options{}},
		"another one than elsewhere":  {url, other, "", client.Options{}},
		"another socket":              {"", "unix:///tmp/other.sock", "", client.Options{}},
		"another one, with its token": {"", other, "parley_own", client.Options{URL: other, Token: "parley_own"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PARLEY_HOME", dir)
			t.Setenv("PARLEY_URL", test.url)
			t.Setenv("PARLEY_TOKEN", test.token)
			if err := home.Dir(dir).SaveAgentToken(home.AgentToken{Agent: "ana", Token: "t-1", Secret: "parley_test", Hub: test.hub}); err != nil {
				t.Fatal(err)
			}
			got, err := client.Find("")
			if err == nil {
				err = useAgentToken(&got, dir, "ana")
			}
			if test.want == (client.Options{}) {
				if parley.CodeOf(err) != parley.BadInput || got.Token != "" {
					t.Errorf("%v, and the token is %q", err, got.Token)
				}
			} else if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// TestAHookSendsNothingToAnotherHub that the environment names.
func TestAHookSendsNothingToAnotherHub(t *testing.T) {
	dir, _ := hookHome(t)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it gets %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	t.Setenv("PARLEY_HOME", dir)
	t.Setenv("PARLEY_URL", other.URL)
	t.Setenv("PARLEY_TOKEN", "")
	if code, printed := runHookCommand(hookInput, "claude", "UserPromptSubmit", "--agent", "ana"); code != 0 || printed != "" {
		t.Errorf("exit code %d, %q", code, printed)
	}
}
