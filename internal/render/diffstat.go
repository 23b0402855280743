package render

import (
	"fmt"
	"io"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// statWidth is how many columns --stat has where there is no terminal, as with git.
const statWidth = 80

// DiffStat prints a line a file with a graph, and the sum, to the column as 'git diff --stat' does.
func (pr *Printer) DiffStat(w io.Writer, files []api.FileDiff) error {
	if len(files) == 0 {
		return nil
	}
	names := make([]string, len(files))
	longest, most, number, binary, added, removed := 0, 0, 0, 0, 0, 0
	for i, f := range files {
		names[i] = statName(f)
		longest, most = max(longest, term.Width(names[i])), max(most, f.Added+f.Removed)
		added, removed = added+f.Added, removed+f.Removed
		if f.Note == "binary" {
			number, binary = len("Bin"), max(binary, len(binarySizes(f))+len("Bin "))
		}
	}
	width := pr.Width
	if width == 0 {
		width = statWidth
	}
	number = max(number, len(fmt.Sprint(most)))
	name, graph := statColumns(width, longest, number, max(most, binary-len("Bin ")))
	for i, f := range files {
		text := cutName(names[i], name)
		line := " " + text + strings.Repeat(" ", max(name-term.Width(text), 0)) + " | "
		switch f.Note {
		case "":
			plus, minus := statGraph(f.Added, f.Removed, graph, most)
			line += strings.TrimRight(fmt.Sprintf("%*d ", number, f.Added+f.Removed), " ")
			if plus+minus > 0 {
				line += " " + pr.Styled(term.Added, strings.Repeat("+", plus)) + pr.Styled(term.Removed, strings.Repeat("-", minus))
			}
		case "binary":
			line += fmt.Sprintf("%*s %s", number, "Bin", binarySizes(f))
		default:
			line += strings.ReplaceAll(f.Note, "_", " ")
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	sum := " " + Count(len(files), "file") + " changed"
	if added > 0 || removed == 0 {
		sum += ", " + Count(added, "insertion") + "(+)"
	}
	if removed > 0 || added == 0 {
		sum += ", " + Count(removed, "deletion") + "(-)"
	}
	_, err := fmt.Fprintln(w, sum)
	return err
}

func binarySizes(f api.FileDiff) string { return fmt.Sprintf("%d -> %d bytes", f.OldSize, f.NewSize) }

// statColumns divides a line between the name and the graph: 5/8 are the name's where both do not fit.
func statColumns(width, name, number, graph int) (names, graphs int) {
	rest := number + 6 // " | ", the blanks around it and one at the end
	width = max(width, 16+rest)
	if name+rest+graph <= width {
		return name, graph
	}
	graph = max(min(graph, width*3/8-rest), 6)
	if name > width-rest-graph {
		return width - rest - graph, graph
	}
	return name, width - rest - name
}

// statGraph is how many signs stand for lines that were added and removed, where the most of any file are to fit into
// width.
func statGraph(added, removed, width, most int) (plus, minus int) {
	if most < width {
		return added, removed
	}
	scale := func(n int) int {
		if n == 0 {
			return 0
		}
		return 1 + n*(width-1)/most
	}
	total := scale(added + removed)
	if total < 2 && added > 0 && removed > 0 {
		total = 2
	}
	if added < removed {
		plus = scale(added)
		return plus, total - plus
	}
	minus = scale(removed)
	return total - minus, minus
}

// statName is a file's name in --stat; of one that was renamed, what both names begin and end with stands once.
func statName(f api.FileDiff) string {
	from, to := string(f.RenamedFrom), string(f.Path)
	if from == "" {
		return term.Quote(to)
	}
	if term.Quote(from) != from || term.Quote(to) != to {
		return term.Quote(from) + " => " + term.Quote(to)
	}
	head := 0
	for i := 0; i < min(len(from), len(to)) && from[i] == to[i]; i++ {
		if from[i] == '/' {
			head = i + 1
		}
	}
	tail := 0
	for i := 1; i <= min(len(from), len(to))-max(head-1, 0) && from[len(from)-i] == to[len(to)-i]; i++ {
		if from[len(from)-i] == '/' {
			tail = i
		}
	}
	if head+tail == 0 {
		return from + " => " + to
	}
	middle := func(s string) string { return s[head:max(len(s)-tail, head)] }
	return from[:head] + "{" + middle(from) + " => " + middle(to) + "}" + from[len(from)-tail:]
}

// cutName takes columns from the front of a name, up to a slash where there is one.
func cutName(name string, width int) string {
	if term.Width(name) <= width {
		return name
	}
	const mark = "..."
	rest := []rune(name)
	for len(rest) > 0 && term.Width(string(rest)) > width-len(mark) {
		rest = rest[1:]
	}
	text := string(rest)
	if i := strings.IndexByte(text, '/'); i >= 0 {
		text = text[i:]
	}
	return mark + text
}
