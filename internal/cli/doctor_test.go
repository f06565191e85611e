//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// diagnosis is what the doctor says of each thing.
func diagnosis(t *testing.T, args ...string) (code int, found map[string]finding) {
	t.Helper()
	code, out, errs := run(t, append([]string{"doctor", "-o", "json"}, args...)...)
	var list []finding
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	found = map[string]finding{}
	for _, f := range list {
		found[f.Check] = f
	}
	return code, found
}

func TestDoctorWithoutAHub(t *testing.T) {
	dir := newDir(t)
	code, found := diagnosis(t, "--home", dir)
	if code != exitDone || found["home"].Verdict != verdictWarn || len(found) != 1 {
		t.Errorf("without a home: exit %d, %+v", code, found)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	code, found = diagnosis(t, "--home", dir, "--deep")
	made, err := os.ReadDir(dir)
	if code != exitDone || found["database"].Verdict != verdictWarn || err != nil || len(made) > 0 {
		t.Errorf("with an empty home: exit %d, %+v, and then %v in it (%v)", code, found, made, err)
	}
	hub, _ := up(t, "--home", dir)
	_ = hub.Process.Signal(syscall.SIGTERM)
	_ = hub.Wait()
	for _, deep := range []string{"--deep=false", "--deep"} {
		code, found = diagnosis(t, "--home", dir, deep)
		for _, check := range []string{"home", "files", "config", "hub", "versions", "clock", "disk", "database"} {
			if found[check].Verdict != verdictOK && check != "disk" { // whose room is not the test's to decide
				t.Errorf("%s: %+v", check, found[check])
			}
		}
		if audited := found["audit"].Verdict == verdictOK; code != exitDone || audited != (deep == "--deep") {
			t.Errorf("exit %d, the audit log is %+v", code, found["audit"])
		}
	}
}

func TestDoctorWithAHub(t *testing.T) {
	dir := newDir(t)
	up(t, "--home", dir)
	t.Setenv("PARLEY_URL", "http://192.0.2.1:1") // which is not the hub in this home
	code, found := diagnosis(t, "--home", dir, "--deep")
	for _, check := range []string{"home", "files", "config", "hub", "versions", "socket", "address", "clock", "database", "audit"} {
		if found[check].Verdict != verdictOK {
			t.Errorf("%s: %+v", check, found[check])
		}
	}
	if code != exitDone {
		t.Errorf("exit %d", code)
	}
	if err := os.Chmod(filepath.Join(dir, "parley.sock"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, found = diagnosis(t, "--home", dir); code != exitError || found["socket"].Verdict != verdictFail || found["socket"].Fix == "" {
		t.Errorf("an open socket: exit %d, %+v", code, found["socket"])
	}
}

const notifier = "notify:\n  user:\n    - telegram:\n        chat: 5\n        token_file: "

func TestDoctorLooksAtNotifiers(t *testing.T) {
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{secret: "canary", filepath.Join(dir, "config.yaml"): notifier + secret} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, found := diagnosis(t, "--home", dir); code != exitDone || found["notify"].Verdict != verdictOK {
		t.Errorf("exit %d, %+v", code, found["notify"])
	}
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, found := diagnosis(t, "--home", dir); code != exitError || found["notify"].Verdict != verdictFail || found["notify"].Fix == "" {
		t.Errorf("an open file: exit %d, %+v", code, found["notify"])
	}
}

func TestDoctorFindsProblems(t *testing.T) {
	dir := newDir(t)
	hub, _ := up(t, "--home", dir)
	_ = hub.Process.Signal(syscall.SIGTERM)
	_ = hub.Wait()
	database := filepath.Join(dir, "parley.db")
	for _, test := range []struct {
		name, check string
		spoil, fix  func() error
	}{
		{"an open home", "home", func() error { return os.Chmod(dir, 0o755) }, func() error { return os.Chmod(dir, 0o700) }},
		{"an open file", "files", func() error { return os.Chmod(database, 0o644) }, func() error { return os.Chmod(database, 0o600) }},
		{
			"a broken configuration", "config",
			func() error { return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("x: ["), 0o600) },
			func() error { return os.Remove(filepath.Join(dir, "config.yaml")) },
		},
		{
			"a notifier without its secret", "notify",
			func() error {
				return os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(notifier+dir+"/absent"), 0o600)
			},
			func() error { return os.Remove(filepath.Join(dir, "config.yaml")) },
		},
		{
			"a damaged database", "database",
			func() error {
				return os.WriteFile(database, []byte("this is no database at all, but a text of some length"), 0o600)
			},
			func() error { return nil },
		},
	} {
		if err := test.spoil(); err != nil {
			t.Fatal(err)
		}
		code, found := diagnosis(t, "--home", dir)
		if code != exitError || found[test.check].Verdict != verdictFail || found[test.check].Fix == "" {
			t.Errorf("%s: exit %d, %+v", test.name, code, found)
		}
		if err := test.fix(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDoctorLooksAtTheClock(t *testing.T) {
	ahead := time.Now().Add(time.Hour)
	d := &doctor{}
	d.checkClock(&ahead)
	behind := time.Now().Add(-time.Hour)
	d.checkClock(&behind)
	d.checkClock(nil)
	if d.findings[0].Verdict != verdictWarn || d.findings[1].Verdict != verdictOK || d.findings[2].Verdict != verdictOK {
		t.Errorf("found %+v", d.findings)
	}
}

func TestDoctorLooksAtTheDisk(t *testing.T) {
	d := &doctor{}
	d.checkDisk(0, 0)
	d.checkDisk(1<<29, 1<<40)
	d.checkDisk(1<<39, 1<<40)
	if len(d.findings) != 2 || d.findings[0].Verdict != verdictWarn || d.findings[1].Verdict != verdictOK {
		t.Errorf("found %+v", d.findings)
	}
}

func TestDurationsAreShownInShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		42*time.Second + time.Millisecond: "42s", 90*time.Minute + time.Second: "1h 30m", 50*time.Hour + time.Minute: "2d 2h",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%s: %q", d, got)
		}
	}
}
