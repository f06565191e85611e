// Package httpapi serves the HTTP API. For each request it identifies the caller, reads the input strictly, calls one use case
// of the hub, and writes the result.
//
// One table, which begins in routes.go, lists every operation with its path, its input and its documentation. The hub's own
// table of operations adds the scope of each operation and the callers that may use it. The handlers, the OpenAPI document, its
// page and the tests of rights come from this table.
package httpapi
