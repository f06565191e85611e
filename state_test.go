package parley

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// machine is a state machine as the contract draws it, written out a second time: one row for each
// state, one column for each next state in the same order, x where the step is allowed.
type machine[S ~string] struct {
	rows  []row
	start S
	// leaves are the states that count as an end although a step leads out of them.
	leaves map[S][]S
	table  steps[S]
	may    func(S, S) bool
	known  func(S) bool
	typ    string
}

type row struct{ state, next string }

func (m machine[S]) check(t *testing.T) {
	t.Helper()
	var (
		states []S
		names  []string
	)
	for _, r := range m.rows {
		states, names = append(states, S(r.state)), append(names, r.state)
	}
	if declared := constants(t, m.typ); !slices.Equal(sorted(declared), sorted(names)) {
		t.Errorf("the constants are %v, the test knows %v", declared, names)
	}
	if len(m.table) != len(states) {
		t.Errorf("the table has %d states, want %d", len(m.table), len(states))
	}
	for i, from := range states {
		cells := strings.Fields(m.rows[i].next)
		if len(cells) != len(states) {
			t.Fatalf("row %s has %d cells, want %d", from, len(cells), len(states))
		}
		if !m.known(from) {
			t.Errorf("%s is not known", from)
		}
		for j, to := range states {
			if want := cells[j] == "x"; m.may(from, to) != want {
				t.Errorf("%s → %s: allowed is %t, want %t", from, to, !want, want)
			}
		}
		for _, stranger := range []S{"", "nonsense", S(strings.ToUpper(string(from)))} {
			if m.known(stranger) || m.may(from, stranger) || m.may(stranger, from) {
				t.Errorf("%q is taken for a state", stranger)
			}
		}
	}
	for from, next := range m.table {
		for i, to := range next {
			if !m.known(to) || to == from || slices.Contains(next[:i], to) {
				t.Errorf("%s → %s: unknown, a loop, or listed twice", from, to)
			}
		}
	}
	m.checkReach(t, states)
}

// checkReach fails where a state can never be reached, or an end can be left.
func (m machine[S]) checkReach(t *testing.T, states []S) {
	t.Helper()
	reached := []S{m.start}
	for i := 0; i < len(reached); i++ {
		for _, to := range states {
			if m.may(reached[i], to) && !slices.Contains(reached, to) {
				reached = append(reached, to)
			}
		}
	}
	if len(reached) != len(states) {
		t.Errorf("from %s only %v are reached", m.start, reached)
	}
	for end, exits := range m.leaves {
		for _, to := range states {
			if m.may(end, to) && !slices.Contains(exits, to) {
				t.Errorf("%s is an end, but may step to %s", end, to)
			}
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// constants are the values of all constants of a type in state.go, so that no new one is missed.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "state.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		of, _ := spec.Type.(*ast.Ident)
		value, _ := spec.Values[0].(*ast.BasicLit)
		if of == nil || value == nil || of.Name != typ {
			return true
		}
		s, err := strconv.Unquote(value.Value)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, s)
		return true
	})
	return values
}

func TestDeliveryStates(t *testing.T) {
	machine[DeliveryState]{
		rows: []row{
			//            acc del see ack ans fai exp evi dea dro
			{"accepted", " .   x   .   .   .   x   x   x   .   . "},
			{"delivered", "x   .   x   .   .   x   .   x   x   . "},
			{"seen", "     x   .   .   x   x   x   .   .   x   . "},
			{"acked", "    .   .   .   .   x   .   .   .   .   . "},
			{"answered", " .   .   .   .   .   .   .   .   .   . "},
			{"failed", "   .   .   .   .   .   .   .   .   .   . "},
			{"expired", "  .   .   .   .   .   .   .   .   .   . "},
			{"evicted", "  .   .   .   .   .   .   .   .   .   . "},
			{"dead", "     x   .   .   .   .   .   .   .   .   x "},
			{"dropped", "  .   .   .   .   .   .   .   .   .   . "},
		},
		start: "accepted",
		leaves: map[DeliveryState][]DeliveryState{
			"acked": {"answered"}, "answered": nil, "failed": nil, "expired": nil, "evicted": nil,
			"dead": {"accepted", "dropped"}, "dropped": nil,
		},
		table: deliverySteps, may: DeliveryState.May, known: DeliveryState.Known, typ: "DeliveryState",
	}.check(t)
}

func TestTaskStates(t *testing.T) {
	machine[TaskState]{
		rows: []row{
			//            que act com fai can
			{"queued", "   .   x   .   x   x "},
			{"active", "   x   .   x   x   x "},
			{"completed", ".   .   .   .   . "},
			{"failed", "   x   .   .   .   . "},
			{"cancelled", "x   .   .   .   . "},
		},
		start:  "queued",
		leaves: map[TaskState][]TaskState{"completed": nil, "failed": {"queued"}, "cancelled": {"queued"}},
		table:  taskSteps, may: TaskState.May, known: TaskState.Known, typ: "TaskState",
	}.check(t)
}

func TestApprovalStates(t *testing.T) {
	machine[ApprovalState]{
		rows: []row{
			//            pen app exe den exp wit
			{"pending", "  .   x   .   x   x   x "},
			{"approved", " .   .   x   .   .   x "},
			{"executed", " .   .   .   .   .   . "},
			{"denied", "   .   .   .   .   .   . "},
			{"expired", "  .   .   .   .   .   . "},
			{"withdrawn", ".   .   .   .   .   . "},
		},
		start:  "pending",
		leaves: map[ApprovalState][]ApprovalState{"executed": nil, "denied": nil, "expired": nil, "withdrawn": nil},
		table:  approvalSteps, may: ApprovalState.May, known: ApprovalState.Known, typ: "ApprovalState",
	}.check(t)
}

func TestRunStates(t *testing.T) {
	machine[RunState]{
		rows: []row{
			//            sta run wai suc fai can los
			{"starting", " .   x   .   .   x   x   x "},
			{"running", "  .   .   x   x   x   x   x "},
			{"waiting", "  .   x   .   .   x   x   x "},
			{"succeeded", ".   .   .   .   .   .   . "},
			{"failed", "   .   .   .   .   .   .   . "},
			{"cancelled", ".   .   .   .   .   .   . "},
			{"lost", "     .   .   .   .   .   .   . "},
		},
		start:  "starting",
		leaves: map[RunState][]RunState{"succeeded": nil, "failed": nil, "cancelled": nil, "lost": nil},
		table:  runSteps, may: RunState.May, known: RunState.Known, typ: "RunState",
	}.check(t)
}

func TestDepartureStates(t *testing.T) {
	machine[DepartureState]{
		rows: []row{
			//          due wri see fai evi
			{"due", "     .   x   x   x   x "},
			{"written", " .   .   x   x   x "},
			{"seen", "    .   .   .   .   . "},
			{"failed", "  x   .   .   .   . "},
			{"evicted", " .   .   .   .   . "},
		},
		start:  "due",
		leaves: map[DepartureState][]DepartureState{"seen": nil, "failed": {"due"}, "evicted": nil},
		table:  departureSteps, may: DepartureState.May, known: DepartureState.Known, typ: "DepartureState",
	}.check(t)
}

func TestEndStates(t *testing.T) {
	for _, s := range []DeliveryState{"acked", "answered", "failed", "expired", "evicted", "dropped"} {
		if !s.Settled() {
			t.Errorf("%s is not settled", s)
		}
	}
	for _, s := range []DeliveryState{"accepted", "delivered", "seen", "dead", "", "nonsense"} {
		if s.Settled() {
			t.Errorf("%q is settled", s)
		}
	}
	for _, s := range []TaskState{"completed", "failed", "cancelled"} {
		if !s.Ended() {
			t.Errorf("%s has not ended", s)
		}
	}
	for _, s := range []TaskState{"queued", "active", "", "nonsense"} {
		if s.Ended() {
			t.Errorf("%q has ended", s)
		}
	}
	for _, s := range []RunState{"starting", "running", "waiting"} {
		if !s.Live() {
			t.Errorf("%s is not live", s)
		}
	}
	for _, s := range []RunState{"succeeded", "failed", "cancelled", "lost", "", "nonsense"} {
		if s.Live() {
			t.Errorf("%q is live", s)
		}
	}
}

func TestPathTakesAllowedSteps(t *testing.T) {
	for _, from := range deliveryStates {
		for _, to := range deliveryStates {
			if from == to {
				continue
			}
			path := from.Path(to)
			climbs := slices.Contains([]DeliveryState{"seen", "acked", "answered"}, to) &&
				slices.Contains([]DeliveryState{"accepted", "delivered", "seen"}, from)
			if !climbs {
				if !slices.Equal(path, []DeliveryState{to}) {
					t.Errorf("%s to %s goes by %v", from, to, path)
				}
				continue
			}
			at := from
			for _, next := range path {
				if !at.May(next) {
					t.Errorf("%s to %s goes by %v: %s may not become %s", from, to, path, at, next)
				}
				at = next
			}
			if at != to {
				t.Errorf("%s to %s ends at %s", from, to, at)
			}
		}
	}
}

// A path shares nothing with the table: whoever appends to one must not change another.
func TestPathIsTheCallersOwn(t *testing.T) {
	first := DeliveryAccepted.Path(DeliverySeen)
	_ = append(first, DeliveryFailed)
	first[0] = DeliveryDropped
	want := []DeliveryState{"delivered", "seen", "acked"}
	if got := DeliveryAccepted.Path(DeliveryAcked); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPathGoesThroughEveryState(t *testing.T) {
	for _, c := range []struct {
		from, to DeliveryState
		want     []DeliveryState
	}{
		{DeliveryAccepted, DeliverySeen, []DeliveryState{DeliveryDelivered, DeliverySeen}},
		{DeliveryAccepted, DeliveryAcked, []DeliveryState{DeliveryDelivered, DeliverySeen, DeliveryAcked}},
		{DeliveryDelivered, DeliveryAnswered, []DeliveryState{DeliverySeen, DeliveryAnswered}},
		{DeliverySeen, DeliveryAcked, []DeliveryState{DeliveryAcked}},
		{DeliveryAcked, DeliveryAnswered, []DeliveryState{DeliveryAnswered}},
		{DeliveryAccepted, DeliveryFailed, []DeliveryState{DeliveryFailed}},
		{DeliverySeen, DeliveryAccepted, []DeliveryState{DeliveryAccepted}},
		{DeliveryDead, DeliveryAcked, []DeliveryState{DeliveryAcked}}, // which is not allowed
	} {
		if got := c.from.Path(c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
