package httpapi

import (
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// input describes how a request fills a struct. The tags path, query and header name the source of a field. The field Body gets
// the body. huma reads the same tags for the OpenAPI document.
type input struct {
	params []param
	body   int // index of the field, or -1
}

type param struct {
	field int
	in    string // path, query or header
	name  string
	set   func(reflect.Value, string) error
}

func inputOf[In any]() input {
	t := reflect.TypeFor[In]()
	in := input{body: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "Body" {
			in.body = i
		}
		for _, where := range []string{"path", "query", "header"} {
			if name, ok := f.Tag.Lookup(where); ok {
				in.params = append(in.params, param{i, where, name, setters[f.Type.Kind()]})
			}
		}
	}
	return in
}

// setters parse the text of a parameter into a field, by the kind of the field.
var setters = map[reflect.Kind]func(reflect.Value, string) error{
	reflect.String: func(v reflect.Value, s string) error {
		v.SetString(s)
		return nil
	},
	reflect.Bool: func(v reflect.Value, s string) error {
		on, err := strconv.ParseBool(s)
		v.SetBool(on || s == "") // ?all means ?all=true
		if s == "" {
			return nil
		}
		return err
	},
	reflect.Int:   setInt,
	reflect.Int64: setInt,
	reflect.Float64: func(v reflect.Value, s string) error {
		n, err := strconv.ParseFloat(s, 64)
		v.SetFloat(n)
		return err
	},
}

func setInt(v reflect.Value, s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	v.SetInt(n)
	return err
}

// read fills a struct from a request.
func (in input) read(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	query, err := in.query(r)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for _, p := range in.params {
		text, given := p.value(r, query)
		if !given {
			continue
		}
		if err := p.set(v.Field(p.field), text); err != nil {
			return parley.Errorf(parley.BadInput, "%s cannot be %q", p.name, shorten(text)).Suggest("see /docs for the parameters and fields")
		}
	}
	if in.body < 0 {
		return nil
	}
	return readJSON(w, r, limit, v.Field(in.body).Addr().Interface())
}

func (p param) value(r *http.Request, query url.Values) (text string, given bool) {
	switch p.in {
	case "path":
		return r.PathValue(p.name), true
	case "query":
		return query.Get(p.name), query.Has(p.name)
	default:
		text = r.Header.Get(p.name)
		return text, text != ""
	}
}

// query returns the query of a request. It returns E003 for an unknown parameter and for one with several values.
func (in input) query(r *http.Request) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, parley.Errorf(parley.BadInput, "cannot parse the query: %w", err).Suggest("escape it as URLs require")
	}
	for name, values := range query {
		if !in.knows(name) {
			return nil, parley.Errorf(parley.BadInput, "the query parameter %q is unknown", shorten(name)).
				Suggest("%s", parley.DidYouMean(parley.Nearest(name, in.names()), "see /docs for the parameters and fields"))
		}
		if len(values) > 1 {
			return nil, parley.Errorf(parley.BadInput, "the query parameter %q appears twice", name).Suggest("give it once")
		}
	}
	return query, nil
}

func (in input) knows(name string) bool {
	for _, p := range in.params {
		if p.in == "query" && p.name == name {
			return true
		}
	}
	return false
}

func (in input) names() (list []string) {
	for _, p := range in.params {
		if p.in == "query" {
			list = append(list, p.name)
		}
	}
	return list
}

// checkContentType refuses a body of another type than the operation takes. This also protects against pages of other sites: a
// browser sends JSON to another site only if that site allows it in a CORS preflight, and the hub never does.
func checkContentType(r *http.Request, op *Operation) error {
	if op.RequestType == anyType || r.ContentLength == 0 && r.TransferEncoding == nil {
		return nil
	}
	want := op.RequestType
	if want == "" {
		want = "application/json"
	}
	given := r.Header.Values("Content-Type")
	if len(given) == 1 {
		if given[0] == want {
			return nil
		}
		if kind, more, err := mime.ParseMediaType(given[0]); err == nil && kind == want && onlyUTF8(more) {
			return nil
		}
	}
	return withStatus(http.StatusUnsupportedMediaType, parley.Errorf(parley.BadInput, "the Content-Type of the body is not %s", want).
		Suggest("send it with Content-Type: %s", want))
}

func onlyUTF8(parameters map[string]string) bool {
	charset, ok := parameters["charset"]
	return len(parameters) == 0 || ok && len(parameters) == 1 && strings.EqualFold(charset, "utf-8")
}

// anyType is the RequestType of an operation that takes a body of any type.
const anyType = "*/*"
