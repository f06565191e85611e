package parley

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

func TestAuditChainCoversEveryField(t *testing.T) {
	full := AuditEntry{
		Num: 7, At: time.UnixMilli(1_760_000_000_123).UTC(), Actor: "user", Act: "agent.add", Subject: "arya",
		Detail: json.RawMessage(`{"a":1}`), Hash: "ignored",
	}
	seen := map[string]string{full.Chain("before"): "the entry itself"}
	add := func(name, hash string) {
		if other, ok := seen[hash]; ok {
			t.Errorf("a change of %s gives the same hash as %s", name, other)
		}
		seen[hash] = name
	}
	add("the hash before", full.Chain("other"))
	for i := range reflect.TypeFor[AuditEntry]().NumField() {
		if name := reflect.TypeFor[AuditEntry]().Field(i).Name; name != "Hash" {
			changed := full
			change(t, reflect.ValueOf(&changed).Elem().Field(i))
			add(name, changed.Chain("before"))
		}
	}
	shifted := full
	shifted.Actor, shifted.Act = "usera", "gent.add"
	add("a border between two fields", shifted.Chain("before"))

	full.Hash = "another" // what is chained is the entry, not its own hash
	if seen[full.Chain("before")] != "the entry itself" {
		t.Error("the hash of an entry depends on itself")
	}
}

func TestAuditChainIsStable(t *testing.T) {
	e := AuditEntry{Num: 1, At: time.UnixMilli(0).UTC(), Actor: "user", Act: "a", Subject: "s"}
	const want = "49e9c7a133096cc5c070651468111916c8dd5c193f4807fea07e5d54d630a6d6"
	if got := e.Chain(""); got != want {
		t.Errorf("got %s, want %s: stored chains would no longer verify", got, want)
	}
	e.At = e.At.In(time.FixedZone("x", 3600)) // the same moment
	if got := e.Chain(""); got != want {
		t.Errorf("the zone counts: %s", got)
	}
}

func TestAuditReportListsSoManyProblems(t *testing.T) {
	r := AuditReport{OK: true}
	for i := range maxProblems + 3 {
		r.Add("problem %d", i)
	}
	last := r.Problems[len(r.Problems)-1]
	if len(r.Problems) != maxProblems || last != fmt.Sprint("problem ", maxProblems-1) || r.Omitted != 3 || r.OK {
		t.Errorf("%d problems up to %q, %d omitted, all is well: %v", len(r.Problems), last, r.Omitted, r.OK)
	}
}
