package term

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	fill := func(s *Streams) *Table {
		tb := s.Table(Column{title: "id"}, Column{title: "size", Right: true}, Column{title: "message", Flex: true})
		tb.Row(Cell{"0a1b2c", ID}, Cell{"1.2 MiB", Plain}, Cell{"short", Plain})
		tb.Row(Cell{"漢字", ID}, Cell{"9 B", Plain}, Cell{"evil \x1b[2J and a message that is long\nsecond line", Plain})
		tb.Row(Cell{"x", ID})
		return tb
	}
	for _, c := range []struct {
		name  string
		tty   bool
		width int
		color ColorMode
		want  string
	}{
		{"pipe", false, 0, colorAuto, `
id         size  message
0a1b2c  1.2 MiB  short
漢字        9 B  evil \x1b[2J and a message that is long\nsecond line
x
`},
		{"wide terminal", true, 80, colorNever, `
id         size  message
0a1b2c  1.2 MiB  short
漢字        9 B  evil \x1b[2J and a message that is long\nsecond line
x
`},
		{"narrow terminal", true, 32, colorNever, `
id         size  message
0a1b2c  1.2 MiB  short
漢字        9 B  evil \x1b[2J a…
x
`},
		{"too narrow for the fixed columns", true, 12, colorNever, `
id      size
0a1b2c  1.2…
漢字     9 B
x
`},
		{"colour", true, 32, colorAlways, `
<2>id<0>         <2>size<0>  <2>message<0>
<33>0a1b2c<0>  1.2 MiB  short
<33>漢字<0>        9 B  evil \x1b[2J a…
<33>x<0>
`},
	} {
		s, out, _ := Test("", c.tty)
		s.Width = c.width
		s.SetColor(c.color)
		if err := fill(s).Flush(s.Out); err != nil {
			t.Fatal(err)
		}
		want := strings.TrimPrefix(c.want, "\n")
		if c.color == colorAlways {
			want = strings.NewReplacer("<2>", "\x1b[2m", "<33>", "\x1b[33m", "<0>", "\x1b[0m").Replace(want)
		}
		if out.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s\n%q", c.name, out, want, out)
		}
	}
}

func TestTableWithoutHeads(t *testing.T) {
	s, out, _ := Test("", false)
	tb := s.Table(Column{}, Column{})
	if err := tb.Flush(s.Out); err != nil || out.Len() != 0 {
		t.Errorf("empty table: %q, %v", out, err)
	}
	tb.Row(Cell{Text: "a"}, Cell{Text: "b"}, Cell{Text: "dropped"})
	tb.Row()
	if err := tb.Flush(s.Out); err != nil || out.String() != "a  b\n\n" {
		t.Errorf("%q, %v", out, err)
	}
	out.Reset()
	if err := tb.Flush(s.Out); err != nil || out.Len() != 0 {
		t.Errorf("flushed twice: %q, %v", out, err)
	}
}
