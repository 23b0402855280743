# Reads `go test -json`, prints what a person wants to see of it and counts.
#
# Printed at once: the output of every test that failed or was skipped, and the
# runner's own line of every package. At the end, alone on a line:
#
#	N passed, N failed, N skipped
#
# Tests and their subtests count one each; a package that failed without a failed
# test (it did not build, it panicked, it ran into its time limit) counts as one
# failure. The exit status is 1 when anything failed or was skipped, or when no
# test ran at all.

# field returns the string value of a key that stands before "Output", whose text
# could hold anything.
function field(key,    rest, at) {
	at = index(head, "\"" key "\":\"")
	if (!at) return ""
	rest = substr(head, at + length(key) + 4)
	return substr(rest, 1, index(rest, "\"") - 1)
}

# text undoes JSON's escapes in one pass.
function text(s,    out, at, c) {
	out = ""
	while ((at = index(s, "\\")) > 0) {
		out = out substr(s, 1, at - 1)
		c = substr(s, at + 1, 1)
		if (c == "n") out = out "\n"
		else if (c == "t") out = out "\t"
		else if (c == "u") {
			c = tolower(substr(s, at + 2, 4))
			if (c == "003c") out = out "<"
			else if (c == "003e") out = out ">"
			else if (c == "0026") out = out "&"
			else out = out "\\u" c
			s = substr(s, at + 6)
			continue
		}
		else out = out c
		s = substr(s, at + 2)
	}
	return out s
}

!/^\{"/ { print; next }

{
	at = index($0, ",\"Output\":\"")
	head = at ? substr($0, 1, at) : $0
	action = field("Action"); test = field("Test")
	package = field("Package")
	if (package == "") package = field("ImportPath")
	id = package " " test
}

action == "output" || action == "build-output" {
	line = text(substr($0, at + 11, length($0) - at - 12))
	sub(/","OutputType":"[a-z-]*$/, "", line)
	if (action == "build-output") printf "%s", line
	else if (test != "") held[id] = held[id] line
	else if (line ~ /^(ok|FAIL|panic:|\?)[ \t]/) { printf "%s", line; held[id] = "" }
	else held[id] = held[id] line
	next
}

action == "pass" && test != "" { passed++; delete held[id] }
action == "skip" && test != "" { skipped++; names = names "  " id "\n"; printf "%s", held[id]; delete held[id] }
action == "fail" && test != "" { failed++; inPackage[package]++; printf "%s", held[id]; delete held[id] }
action == "fail" && test == "" && package != "" {
	if (!inPackage[package]) { failed++; printf "%s", held[id] }
	# What a test wrote that never came to an end.
	for (k in held) if (index(k, package " ") == 1 && k != id) { printf "%s", held[k]; delete held[k] }
}

END {
	if (skipped) printf "skipped, and nothing may be skipped here:\n%s", names
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit (failed || skipped || !passed) ? 1 : 0
}
