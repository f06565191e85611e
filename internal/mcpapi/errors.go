package mcpapi

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// rpcCodes are the protocol's errors by the hub's codes. Only requests that are not calls of tools end with them: the error of a tool
// is a result, which the model reads.
var rpcCodes = map[parley.Code]int64{
	parley.BadInput:         jsonrpc.CodeInvalidParams,
	parley.NotPermitted:     jsonrpc.CodeInvalidRequest,
	parley.Unavailable:      -32000,
	parley.TimedOut:         -32000,
	parley.DependencyFailed: -32000,
	parley.Internal:         jsonrpc.CodeInternalError,
}

// rpcError returns an error of the hub as an error of the protocol, with the same facts.
func rpcError(err error) error {
	if known, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return known
	}
	e := parley.AsError(err)
	code, ok := rpcCodes[e.Code]
	if !ok {
		code = jsonrpc.CodeInternalError
	}
	data, failed := json.Marshal(resultOf(tools.Result{}, err).StructuredContent)
	if failed != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: code, Message: tools.Failure(err), Data: data}
}
