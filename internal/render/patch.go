package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/textdiff"
	"rewind/internal/value"
)

// FilePatch prints one file's difference as git does, so that 'git apply' reads it. On a terminal, and wherever there
// is colour, contents are sanitised; elsewhere they are written byte for byte.
func (pr *Printer) FilePatch(w io.Writer, f api.FileDiff) error {
	if strings.HasPrefix(f.OldMode, "04") && strings.HasPrefix(f.NewMode, "04") {
		// git knows no directories; it skips what is no patch.
		_, err := fmt.Fprintln(w, pr.Styled(term.Bold,
			fmt.Sprintf("# mode of %s: %s -> %s", term.Quote(string(f.Path)), f.OldMode, f.NewMode)))
		return err
	}
	from, to := string(f.Path), string(f.Path)
	if f.RenamedFrom != "" {
		from = string(f.RenamedFrom)
	}
	head := []string{fmt.Sprintf("diff --git %s %s", term.Quote("a/"+from), term.Quote("b/"+to))}
	switch f.Status {
	case "added":
		head = append(head, "new file mode "+gitMode(f.NewMode))
	case "deleted":
		head = append(head, "deleted file mode "+gitMode(f.OldMode))
	case "renamed":
		head = append(head, "similarity index 100%", "rename from "+term.Quote(from), "rename to "+term.Quote(to))
	}
	if f.OldMode != "" && f.NewMode != "" && f.OldMode != f.NewMode {
		head = append(head, "old mode "+f.OldMode, "new mode "+f.NewMode)
	}
	if note := pr.noteLine(f); note != "" {
		head = append(head, note)
	}
	oldName, newName := textdiff.Header{Name: term.Quote("a/" + from)}, textdiff.Header{Name: term.Quote("b/" + to)}
	if f.Status == "added" {
		oldName.Name = "/dev/null"
	}
	if f.Status == "deleted" {
		newName.Name = "/dev/null"
	}
	for _, l := range head {
		if _, err := fmt.Fprintln(w, pr.Styled(term.Bold, l)); err != nil {
			return err
		}
	}
	if !pr.OutTTY && !pr.ColorOut() {
		return textdiff.Unified(w, oldName, newName, f.Hunks)
	}
	if len(f.Hunks) > 0 {
		fmt.Fprintf(w, "%s\n%s\n", pr.Styled(term.Bold, "--- "+oldName.Name), pr.Styled(term.Bold, "+++ "+newName.Name))
	}
	for _, h := range f.Hunks {
		if err := pr.Hunk(w, h); err != nil {
			return err
		}
	}
	return nil
}

// noteLine says why a difference has no lines; "": it has.
func (pr *Printer) noteLine(f api.FileDiff) string {
	from, to := string(f.Path), string(f.Path)
	if f.RenamedFrom != "" {
		from = string(f.RenamedFrom)
	}
	switch f.Note {
	case "binary":
		return fmt.Sprintf("Binary files %s and %s differ", term.Quote("a/"+from), term.Quote("b/"+to))
	case "too_large":
		return fmt.Sprintf("# too large to compare: %s -> %s", term.Size(f.OldSize), term.Size(f.NewSize))
	case "secret":
		return "# on the secret list: content not shown"
	case string(value.KeptPurged):
		return "# purged from the store"
	case string(value.KeptLost):
		return "# lost: damaged beyond repair"
	}
	return ""
}

// FileHunks prints one file's difference below its name, for a person alone.
func (pr *Printer) FileHunks(w io.Writer, f api.FileDiff) error {
	if _, err := fmt.Fprintln(w, pr.Styled(term.Bold, pr.ChangeLine(f.Change))); err != nil {
		return err
	}
	if note := pr.noteLine(f); note != "" {
		_, err := fmt.Fprintln(w, note)
		return err
	}
	for _, h := range f.Hunks {
		if err := pr.Hunk(w, h); err != nil {
			return err
		}
	}
	return nil
}

// gitMode is the nearest mode that git has: it knows no permission bits but the executable one.
func gitMode(mode string) string {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || n&0o170000 != 0o100000 {
		return mode
	}
	if n&0o111 != 0 {
		return "100755"
	}
	return "100644"
}

var lineStyles = map[textdiff.Op][2]term.Style{
	'+': {term.Added, term.AddedSpan},
	'-': {term.Removed, term.RemovedSpan},
	' ': {term.Plain, term.Plain},
}

// Hunk prints a hunk for a person. Tabs and the CR that ends a line are as they are, so that what is copied is a patch;
// what could move the cursor, hide or reorder text is not. On a terminal the words that differ are marked; other
// programs that read colours mark their own.
func (pr *Printer) Hunk(w io.Writer, h textdiff.Hunk) error {
	fmt.Fprintln(w, pr.Styled(term.Hunk, h.Header()))
	spans := make([][]textdiff.Span, len(h.Lines))
	if pr.OutTTY {
		spans = h.Spans()
	}
	for i, l := range h.Lines {
		style := lineStyles[l.Op]
		text, ending := string(l.Text), ""
		if t, ok := strings.CutSuffix(text, "\r"); ok {
			text, ending = t, "\r"
		}
		var b strings.Builder
		b.WriteString(pr.Styled(style[0], string(l.Op)))
		at := 0
		for _, s := range spans[i] {
			from, to := min(s.Start, len(text)), min(s.End, len(text))
			b.WriteString(pr.Styled(style[0], term.SanitizeText(text[at:from])))
			b.WriteString(pr.Styled(style[1], term.SanitizeText(text[from:to])))
			if at = to; s.End > len(text) {
				ending = pr.Styled(style[1], ending)
			}
		}
		b.WriteString(pr.Styled(style[0], term.SanitizeText(text[at:])) + ending)
		if l.NoEOL {
			b.WriteString("\n\\ No newline at end of file")
		}
		if _, err := fmt.Fprintln(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}
