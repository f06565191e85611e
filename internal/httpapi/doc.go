// Package httpapi is the HTTP door: it finds out who calls, reads what is asked strictly, calls one use
// case of the hub, and writes what comes of it.
//
// One table, in routes.go, lists every operation with the scope it needs and who may use it. From this
// table come the handlers, the OpenAPI document, the readable documentation, and the tests of rights.
package httpapi
