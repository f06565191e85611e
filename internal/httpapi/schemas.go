package httpapi

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/parley-hub/parley"
)

// priorityShape describes the JSON of parley.Priority, which is a number or a word.
type priorityShape struct{}

// Schema implements huma.SchemaProvider.
func (priorityShape) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, 10.0
	return &huma.Schema{
		Description: "How urgent it is: 0 to 10, or a word. Default: 5.",
		OneOf: []*huma.Schema{
			{Type: huma.TypeInteger, Minimum: &least, Maximum: &most},
			{Type: huma.TypeString, Enum: []any{"low", "normal", "high", "urgent", "critical"}},
		},
	}
}

// Schema implements huma.SchemaProvider. Every field can be missing or null.
func (AgentChange) Schema(r huma.Registry) *huma.Schema {
	all := *huma.SchemaFromType(r, reflect.TypeFor[changeable]())
	all.Required = nil
	for name, s := range all.Properties {
		if s.Ref != "" {
			all.Properties[name] = &huma.Schema{Description: s.Description, OneOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
		} else if s.Type != "" {
			s.Nullable = true
		}
	}
	addEnums("Agent", &all)
	return &all
}

// refine corrects the schemas that huma has made from the types.
func refine(schemas map[string]*huma.Schema) {
	delete(schemas, "ErrorModel") // huma's own errors, which the hub does not send
	delete(schemas, "ErrorDetail")
	for name, s := range schemas {
		addEnums(name, s)
		for _, p := range s.Properties {
			if p.Type == huma.TypeArray {
				p.Nullable = false // an empty list is []
			}
		}
	}
	schemas["RunView"].Properties["number"].Description = "The number in its short name: run-12 has 12."
	schemas["NewAgent"].Required = []string{"id"}
	schemas["TaskRequest"].Required = []string{"text"}
	schemas["ContactRequest"].Required = []string{"action", "message"} // and agentId, or its other name
}

// addEnums adds the words that the fields of a type can have, and marks the fields that hold any JSON object. The tag doc
// describes the fields.
func addEnums(name string, s *huma.Schema) {
	for field, p := range s.Properties {
		of := p
		if p.Type == huma.TypeArray {
			of = p.Items
		}
		if list := enumOf(name, field); list != nil && of.Type == huma.TypeString && of.Enum == nil && !slices.Contains(freeFields, name+"."+field) {
			of.Enum = list
			if of.Nullable {
				of.Enum = append(slices.Clone(list), nil)
			}
		}
		if slices.Contains(objectFields, field) && p.Type == "" && p.Ref == "" && p.OneOf == nil {
			p.Type, p.AdditionalProperties = huma.TypeObject, true
		}
	}
}

// enumOf returns the words of a field: those of the field in its type, else of the field in the type that sharedEnums names, else
// of all fields with the name. It returns nil if the field has none.
func enumOf(name, field string) []any {
	for _, key := range []string{name + "." + field, sharedEnums[name] + "." + field, field} {
		if list, known := enums[key]; known {
			return list
		}
	}
	return nil
}

// sharedEnums names, for a type, another type with the same words.
var sharedEnums = map[string]string{"PlainTask": "Task", "RunView": "Run", "AskView": "AskState"}

// objectFields are fields that hold any JSON object.
var objectFields = []string{"payload", "metadata", "metrics", "runtime_config"}

var runStates = []parley.RunState{
	parley.RunStarting, parley.RunRunning, parley.RunWaiting, parley.RunSucceeded, parley.RunFailed, parley.RunCancelled, parley.RunLost,
}

// enums has the words of fields, by field name or by type and field name.
var enums = map[string][]any{
	"access":          enum(parley.AccessOwner, parley.AccessMember),
	"code":            enum(parley.NotPermitted, parley.Unavailable, parley.BadInput, parley.TimedOut, parley.DependencyFailed, parley.Internal),
	"inbox_overflow":  enum(parley.OverflowEvict, parley.OverflowReject, parley.OverflowUnbounded),
	"mode":            enum(parley.ModeAutonomous, parley.ModeSupervised, parley.ModeStrict),
	"scopes":          enum(parley.AllScopes()...),
	"tier":            enum(parley.TierCommand, parley.TierPM, parley.TierWorker),
	"visibility":      enum(parley.Public, parley.Private),
	"Run.state":       enum(runStates...),
	"Work.state":      enum(runStates[:3]...),
	"AgentView.state": enum(parley.Awake, parley.Offline),
	"Presence.state":  enum(parley.Awake, parley.Offline),
	"state": enum(parley.DeliveryAccepted, parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAcked,
		parley.DeliveryAnswered, parley.DeliveryFailed, parley.DeliveryExpired, parley.DeliveryEvicted, parley.DeliveryDead,
		parley.DeliveryDropped),
	"Approval.state": enum(parley.ApprovalPending, parley.ApprovalApproved, parley.ApprovalExecuted, parley.ApprovalDenied,
		parley.ApprovalExpired, parley.ApprovalWithdrawn),
	"AskState.state":        enum(parley.WaitWaiting, parley.WaitLate, parley.WaitAnswered, parley.WaitFailed, parley.WaitAbandoned),
	"Task.status":           enum(parley.TaskQueued, parley.TaskActive, parley.TaskCompleted, parley.TaskFailed, parley.TaskCancelled),
	"Task.outcome":          enum(parley.OutcomeSuccess, parley.OutcomePartial),
	"Awaited.kind":          enum(parley.AwaitedMessage, parley.AwaitedAsk, parley.AwaitedTask, parley.AwaitedApproval),
	"Contacted.outcome":     enum(parley.ContactAnswered, parley.ContactDelegated, parley.ContactNotified, parley.ContactWaiting, parley.ContactLate),
	"ContactRequest.action": enum(parley.PatternAsk, parley.PatternDelegate, parley.PatternNotify),
	"effect":                enum(parley.EffectAllow, parley.EffectDeny),

	"BridgeView.state": enum(parley.BridgePaused, parley.BridgeNotRunning, parley.BridgeLooking, parley.BridgeRunning, parley.BridgeWaiting,
		parley.BridgeStopped, parley.BridgeFailing),
	"Beat.state":            enum(parley.Awake, parley.Offline),
	"DepartureReport.state": enum(parley.DepartureWritten, parley.DepartureSeen, parley.DepartureFailed, parley.DepartureEvicted),
	"layout":                enum(parley.LayoutAgentOS, parley.LayoutBlackboard, parley.LayoutInbox),

	"action":  enum(parley.Actions()...),
	"answers": enum(parley.AnswersParallel, parley.AnswersRoundRobin, parley.AnswersFirst),
	"purpose": enum(parley.PurposeAsk, parley.PurposeTask, parley.PurposeCallback, parley.PurposeApproval, parley.PurposeError),
}

// freeFields are fields that can have any text, although enums has words for their name.
var freeFields = []string{"Content.code", "Issues.action"}

func enum[T ~string](list ...T) (values []any) {
	for _, v := range list {
		values = append(values, string(v))
	}
	return values
}
