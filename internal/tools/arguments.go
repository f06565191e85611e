package tools

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

// withArguments returns a call that decodes its arguments into the type of a function. It refuses unknown arguments: otherwise a model
// would not notice that one had no effect.
func withArguments[A any](call func(context.Context, Participant, A) (Result, error)) func(context.Context, Participant, json.RawMessage) (Result, error) {
	return func(ctx context.Context, p Participant, raw json.RawMessage) (Result, error) {
		args, err := decodeArguments[A](raw)
		if err != nil {
			return Result{}, err
		}
		return call(ctx, p, args)
	}
}

func decodeArguments[A any](raw json.RawMessage) (args A, err error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := jsonv2.Unmarshal(raw, &args, jsonv2.RejectUnknownMembers(true)); err != nil {
		if e, ok := timeError(err); ok {
			return args, e
		}
		return args, parley.Errorf(parley.BadInput, "the arguments are wrong: %s", argumentError(err)).
			Suggest("see the tool's schema")
	}
	return args, nil
}

// argumentError says what is wrong with arguments, without naming Go types.
func argumentError(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		return quote.Inline(e.JSONPointer.LastToken()) + " is given twice"
	}
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	switch {
	case !ok:
		return quote.Clean(err.Error())
	case errors.Is(err, jsonv2.ErrUnknownName):
		return "there is no " + quote.Inline(e.JSONPointer.LastToken())
	case e.JSONPointer == "":
		return "they cannot be " + kindName(e.JSONKind)
	case e.GoType != nil && e.GoType.Kind() == reflect.Int && e.JSONKind == '0':
		return quote.Inline(e.JSONPointer.LastToken()) + " must be a whole number"
	default:
		return quote.Inline(e.JSONPointer.LastToken()) + " cannot be " + kindName(e.JSONKind)
	}
}

// kindName returns the kind of a JSON value in words.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	default:
		return kind.String()
	}
}

// timeError returns the error for an argument that is a string, as its schema says, but no time.
func timeError(err error) (*parley.Error, bool) {
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok || e.JSONKind != '"' || e.GoType != reflect.TypeFor[time.Time]() {
		return nil, false
	}
	given := "no time"
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		given = quote.Inline(strings.Trim(wrong.Value, `"`))
	}
	return parley.Errorf(parley.BadInput, "%s is %s", e.JSONPointer.LastToken(), given).Suggest("give a time like 2026-12-01T00:00:00Z"), true
}

// require returns E003 if the value of an argument is empty.
func require(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return parley.Errorf(parley.BadInput, "%s is missing", name).Suggest("see the tool's schema")
	}
	return nil
}
