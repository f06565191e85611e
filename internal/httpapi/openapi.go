package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// document describes the API, for programs and for people.
type document struct {
	json     []byte
	readable manual
}

// OpenAPI returns the OpenAPI document that the hub serves.
func OpenAPI() []byte { return newDocument().json }

func newDocument() *document {
	doc := describe(allRoutes())
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	// Decoding and encoding again sorts the keys.
	var sorted any
	if err := json.Unmarshal(raw, &sorted); err != nil {
		panic(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(sorted); err != nil {
		panic(err)
	}
	return &document{json: b.Bytes(), readable: newManual(doc)}
}

// noServer is a huma adapter that serves nothing. huma only writes the document, from the types of the requests and answers.
type noServer struct{}

func (noServer) Handle(*huma.Operation, func(huma.Context))   {}
func (noServer) ServeHTTP(http.ResponseWriter, *http.Request) {}

const schemaPrefix = "#/components/schemas/"

// schemaName returns the schema name of a type. It gives parley.Task another name than Task, the type of answers, which has more
// fields.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[parley.Task]() || t == reflect.TypeFor[*parley.Task]() {
		return "PlainTask"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

func describe(list []route) *huma.OpenAPI {
	schemas := huma.NewMapRegistry(schemaPrefix, schemaName)
	schemas.RegisterTypeAlias(reflect.TypeFor[parley.Priority](), reflect.TypeFor[priorityShape]())
	doc := &huma.OpenAPI{
		OpenAPI:    "3.1.0",
		Info:       &huma.Info{Title: "Parley", Version: parley.Version, Description: introduction, License: &huma.License{Name: "MIT", Identifier: "MIT"}},
		Components: &huma.Components{Schemas: schemas, Responses: commonResponses(), SecuritySchemes: securitySchemes()},
		Tags:       tagsOf(),
	}
	schemas.Schema(reflect.TypeFor[Problem](), true, "")
	schemas.Schema(reflect.TypeFor[Held](), true, "")
	writer := huma.NewAPI(huma.Config{OpenAPI: doc}, noServer{})
	for _, r := range list {
		if !r.Hidden {
			r.document(writer, r.described())
		}
	}
	for _, r := range list {
		r.complete(doc)
	}
	refine(schemas.Map())
	return doc
}

const introduction = `Parley connects AI agents and people. Every operation needs a credential: a token, sent as
Authorization: Bearer parley_…; or, in a browser, a session; or, on the hub's own machine, the local socket, where the
owner needs no token.

Requests and answers are JSON. Times are RFC 3339 in UTC, durations are numbers of seconds. The hub reads requests
strictly: it refuses unknown keys, duplicate keys and keys that differ in case. Lists have items. If there are more,
they also have next: send it as cursor. An owner may act as an agent with the header Parley-As: <agent>; the hub
audits these calls. Every error is application/problem+json with a code, a sentence, and what to do next.

If a call of an agent needs an approval, the hub answers 202: it has not made the call, and the answer names the
approval.`

// described returns the description of an operation for huma, which adds the parameters and bodies itself.
func (r route) described() huma.Operation {
	op := huma.Operation{
		OperationID: r.ID, Method: r.Method, Path: r.Path, Tags: []string{r.Tag}, Summary: r.Summary,
		Description: r.text(), DefaultStatus: r.success(), Responses: map[string]*huma.Response{},
	}
	if r.Who != hub.Anyone {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	for _, status := range r.errors() {
		name := strconv.Itoa(status)
		op.Responses[name] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	if r.Held {
		op.Responses["202"] = &huma.Response{Ref: "#/components/responses/202"}
	}
	return op
}

// text returns the description of an operation, with the callers that may use it.
func (o Operation) text() string {
	parts := []string{}
	if o.Description != "" {
		parts = append(parts, o.Description)
	}
	if o.Who == hub.Anyone {
		parts = append(parts, "Needs no credential.")
	} else {
		parts = append(parts, "For "+string(o.Who)+". Needs the scope "+string(o.Scope)+".")
	}
	return strings.Join(parts, "\n\n")
}

// errors returns the HTTP statuses of the errors that an operation can return.
func (o Operation) errors() []int {
	list := []int{400, 403, 421, 500, 503, 504}
	if o.Who != hub.Anyone {
		list = append(list, 401, 404, 409, 410, 413, 429) // 409 also for an ambiguous name
	}
	if o.Method != http.MethodGet {
		list = append(list, 409, 415, 424, 507)
	} else if strings.Contains(o.Path, "{conversation}") {
		list = append(list, 409) // several conversations have the name
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// complete adds to the document what huma cannot read from types: bodies that are not JSON, answers of stream routes, and
// examples.
func (r route) complete(doc *huma.OpenAPI) {
	item := doc.Paths[r.Path]
	if r.Hidden || item == nil {
		return
	}
	op := operationOf(item, r.Method)
	if r.RequestType != "" {
		op.RequestBody = &huma.RequestBody{
			Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}
	}
	if op.RequestBody != nil {
		op.RequestBody.Required = r.RequestType != "" || needsBody(doc, op)
		if r.Example != "" {
			op.RequestBody.Content["application/json"].Example = json.RawMessage(r.Example)
		}
	}
	success := op.Responses[strconv.Itoa(r.success())]
	success.Description = strings.TrimSpace(http.StatusText(r.success()))
	switch shape, ok := handWritten[r.ID]; {
	case ok:
		success.Content = map[string]*huma.MediaType{"application/json": {Schema: doc.Components.Schemas.Schema(shape, true, "")}}
	case r.AnswerType != "":
		success.Content = map[string]*huma.MediaType{r.AnswerType: {Schema: &huma.Schema{Type: "string"}}}
	}
	if r.ID == "contact" {
		success.Content[jsonLines] = &huma.MediaType{Schema: doc.Components.Schemas.Schema(reflect.TypeFor[ContactLine](), true, "")}
	}
	if r.ID == "post-message" {
		again := *success
		again.Description = "The key was used before: this is the first message"
		op.Responses["200"] = &again
	}
}

// needsBody reports whether the body of an operation's request has required fields.
func needsBody(doc *huma.OpenAPI, op *huma.Operation) bool {
	s := op.RequestBody.Content["application/json"].Schema
	if s.Ref != "" {
		s = doc.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return len(s.Required) > 0
}

// handWritten has the types of the JSON answers that stream routes write.
var handWritten = map[string]reflect.Type{
	"store-artifact": reflect.TypeFor[parley.Artifact](),
	"import-hub":     reflect.TypeFor[parley.ImportReport](),
	"make-link":      reflect.TypeFor[Link](),
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch,
		http.MethodDelete: item.Delete,
	}[method]
}

func tagsOf() (list []*huma.Tag) {
	for _, name := range []string{
		tagMessages, tagContact, tagMCP, tagTasks, tagApprovals, tagInbox, tagSessions, tagConversations, tagNotes, tagAgents, tagPermissions, tagRuns, tagEvents,
		tagArtifacts, tagBridges, tagDead, tagCredentials, tagHub,
	} {
		list = append(list, &huma.Tag{Name: name})
	}
	return list
}

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", BearerFormat: "parley_…", Description: "A token, made with parley token new or POST /v1/tokens."},
		"session": {
			Type: "apiKey", In: "cookie", Name: sessionCookie,
			Description: "A session of the hub's own page. Every call also needs the header Parley-Page, with the secret that the page got at sign-in.",
		},
	}
}

// commonResponses returns the answers that operations share: the errors by status, and the answer to a call that needs an
// approval.
func commonResponses() map[string]*huma.Response {
	sentences := map[int]string{
		400: "E003: the request is wrong", 401: "E001 unauthenticated: the request has no valid credential",
		403: "E001: not permitted", 404: "E003 not_found: it does not exist, or the caller may not see it",
		409: "E003 conflict: its state has changed, or the name is ambiguous", 410: "E002 gone: the agent was removed", 413: "E003 too_large: a limit is exceeded",
		415: "E003: the operation takes a body of another type", 421: "E001: the hub has another host name",
		424: "E005: a dependency failed",
		429: "E002 rate_limited: too many calls; see Retry-After", 500: "E006: the hub failed",
		503: "E002: not available now; see Retry-After", 504: "E004: the time is up", 507: "E002 storage_full: the disk is full",
	}
	list := map[string]*huma.Response{"202": {
		Description: "The hub did not make the call: it needs an approval",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + "Held"}}},
	}}
	for status, sentence := range sentences {
		list[strconv.Itoa(status)] = &huma.Response{
			Description: sentence,
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}}},
		}
	}
	return list
}
