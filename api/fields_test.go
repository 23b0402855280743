package api_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/api-fields.md anew")

const fieldsPage = "../docs/api-fields.md"

// TestFieldsInDocs holds docs/api-fields.md against the types: a section for each route with what is sent and what
// comes back, and one for each type that those have. What is said of a field is its comment.
func TestFieldsInDocs(t *testing.T) {
	p := describeFields(t)
	if *update {
		if err := os.WriteFile(fieldsPage, p.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(fieldsPage); err != nil || !bytes.Equal(is, p.out.Bytes()) {
		t.Errorf("%s is not what the types say (%v): go test ./api -run TestFieldsInDocs -update", fieldsPage, err)
	}
}

// TestFieldsStay holds that a field is never renamed, and none goes: each that an answer once had is there. An update
// adds what is new, and takes nothing away: that is done by hand, together with the version of the API.
func TestFieldsStay(t *testing.T) {
	const kept = "testdata/fields.txt"
	is := describeFields(t).ofAnswers()
	b, err := os.ReadFile(kept)
	if err != nil && !*update {
		t.Fatal(err)
	}
	was := strings.Fields(string(b))
	for _, f := range was {
		if !slices.Contains(is, f) {
			t.Errorf("%s is gone: programs read it; a field keeps its name for as long as the version stays", f)
		}
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(was, is))))
	if *update {
		if err := os.WriteFile(kept, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(all) > len(was) {
		t.Errorf("%s does not have all fields: go test ./api -run TestFieldsStay -update", kept)
	}
}

// ofAnswers are the fields of answers and of the types in them, as route/field and type/field.
func (p *fieldPage) ofAnswers() (list []string) {
	section, request := "", false
	for line := range strings.Lines(p.out.String()) {
		line = strings.TrimSpace(line)
		if is, ok := strings.CutPrefix(line, "## "); ok {
			section, request = strings.TrimPrefix(is[strings.LastIndexByte(is, ' ')+1:], "/v1/"), false
		}
		switch line {
		case "Request:":
			request = true
		case "Response:":
			request = false
		}
		if is, ok := strings.CutPrefix(line, "- `"); ok && !request {
			name, _, _ := strings.Cut(is, "`")
			list = append(list, section+"/"+name)
		}
	}
	return list
}

// describeFields reads what the types say.
func describeFields(t *testing.T) *fieldPage {
	t.Helper()
	p := &fieldPage{t: t, types: map[string]*ast.TypeSpec{}, told: map[string]bool{}}
	p.read("../internal/value")
	p.read(".")
	fmt.Fprint(&p.out, "# The fields of the API\n\nMade of the comments in `api/` by `go test ./api -run TestFieldsInDocs -update`; [the API](api.md) says what "+
		"the routes do and which\nerrors they have. A field that may be absent has a `?`; what is not said of a type is a JSON string, number or boolean.\n")
	for _, r := range p.routes {
		fmt.Fprintf(&p.out, "\n## %s %s\n\nRequest:\n\n", r.method, r.path)
		p.fields(r.request)
		fmt.Fprint(&p.out, "\nResponse:\n\n")
		p.fields(r.response)
	}
	for more := true; more; {
		more = false
		for _, n := range slices.Sorted(maps.Keys(p.told)) {
			if !p.told[n] { // its members may bring others
				p.told[n], more = true, true
				fmt.Fprintf(&p.out, "\n## %s\n\n", n)
				p.fields(n)
			}
		}
	}
	return p
}

type fieldPage struct {
	t      *testing.T
	out    bytes.Buffer
	types  map[string]*ast.TypeSpec // of the API, and of what it has from elsewhere
	routes []describedRoute
	told   map[string]bool // types that have or are to have a section: whether it is written
}

type describedRoute struct{ method, path, request, response string }

// read takes in the types and routes of a package.
func (p *fieldPage) read(dir string) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			p.t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if _, alias := n.Type.(*ast.SelectorExpr); !alias || p.types[n.Name.Name] == nil {
					p.types[n.Name.Name] = n
				}
			case *ast.CompositeLit:
				p.route(n)
			}
			return true
		})
	}
}

func (p *fieldPage) route(l *ast.CompositeLit) {
	of, ok := l.Type.(*ast.IndexListExpr)
	if !ok || len(of.Indices) != 2 || len(l.Elts) != 2 {
		return
	}
	text := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			return strings.Trim(e.Value, `"`)
		case *ast.Ident:
			return e.Name
		}
		return ""
	}
	r := describedRoute{text(l.Elts[0]), text(l.Elts[1]), text(of.Indices[0]), text(of.Indices[1])}
	if strings.HasPrefix(r.path, "/v1/") {
		p.routes = append(p.routes, r)
	}
}

// fields lists the members of a type, those of what it embeds among them.
func (p *fieldPage) fields(name string) {
	before := p.out.Len()
	p.members(name)
	if p.out.Len() == before {
		fmt.Fprintln(&p.out, "nothing")
	}
}

func (p *fieldPage) members(name string) {
	spec := p.types[name]
	if spec == nil {
		return
	}
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		if of, _ := p.kind(spec.Type); of != name { // an alias
			p.members(of)
		}
		return
	}
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		json, more, _ := strings.Cut(tag, ",")
		if json == "-" {
			continue
		}
		if len(f.Names) == 0 && json == "" {
			kind, _ := p.kind(f.Type)
			p.members(kind)
			continue
		}
		if json == "" {
			continue // it is not sent
		}
		kind, list := p.kind(f.Type)
		words := "`" + json + "`"
		if strings.Contains(more, "omitempty") || strings.Contains(more, "omitzero") {
			words += "?"
		}
		if p.isObject(kind) {
			words += fmt.Sprintf(" [%s](#%s)", kind, strings.ToLower(kind))
			if _, there := p.told[kind]; !there {
				p.told[kind] = false
			}
		}
		if list {
			words += ", a list"
		}
		said := strings.Join(strings.Fields(f.Comment.Text()+" "+f.Doc.Text()), " ")
		if said != "" {
			words += ": " + said
		}
		fmt.Fprintf(&p.out, "- %s\n", words)
	}
}

// isObject reports whether a type is an object of JSON.
func (p *fieldPage) isObject(name string) bool {
	spec := p.types[name]
	if spec == nil {
		return false
	}
	if _, is := spec.Type.(*ast.StructType); is {
		return true
	}
	sel, alias := spec.Type.(*ast.SelectorExpr)
	return alias && sel.Sel.Name != name && p.isObject(sel.Sel.Name)
}

// kind is the name of the type of a member, or of what it is a list or a map of.
func (p *fieldPage) kind(e ast.Expr) (name string, list bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.kind(e.X)
	case *ast.ArrayType:
		name, _ = p.kind(e.Elt)
		return name, true
	case *ast.MapType:
		return p.kind(e.Value)
	case *ast.SelectorExpr:
		return e.Sel.Name, false
	case *ast.Ident:
		return e.Name, false
	}
	return "", false
}
