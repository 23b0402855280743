package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"rewind/internal/guard"
)

// TestForms: how a command line may be written, each form with one that looks like it and is another.
func TestForms(t *testing.T) {
	for command, refused := range map[string]bool{
		// scripts in scripts, as deep as they are followed
		strings.Repeat("eval ", 8) + "rewind undo": true, strings.Repeat("eval ", 9) + "rewind undo": false,
		"bash --norc -c 'rewind undo'": true, "bash -xc 'rewind undo' -c x": true, "bash --c 'rewind undo'": false,
		"bash -x 'rewind undo'": false, "su me --command='rewind undo'": true, "su --command 'rewind undo'": true,
		"su -c'rewind undo'": true, "su -l -c 'rewind undo' me": true, "su me --command": false, "su -xcy": false,
		"watch --interval 1 rewind undo": true, "trap '' 'rewind undo'": false, "trap": false,
		// assignments and programs in front
		"=x rewind undo": false, "a-b=c rewind undo": false, "a_B1=c rewind undo": true, "a=b": false,
		"a= rewind undo":     true,
		"env -u rewind undo": false, "env -u": false, "timeout -k 1 5 rewind undo": true,
		"timeout -k 5 rewind undo": false,
		"timeout rewind undo":      false, "nice -n rewind undo": false, "sudo -- -u rewind undo": false,
		"find . -execdir rewind undo ;": true, "find . -ok rewind undo ;": true, "find . -okdir rewind undo ;": true,
		`find . -exec true \; -exec rewind undo \;`: true, "find . -exec": false, "find rewind undo": false,
		// redirections
		"echo x >| ~/.rewind/x": true, "echo x >& ~/.rewind/x": true, "echo x &> ~/.rewind/x": true,
		"echo x <> ~/.rewind/x": true, "cat < ~/.rewind/x": false, "cat < rewind undo": false,
		"cat <<< rewind undo": false,
		"cat <<x rewind undo": false, "rewind 2>x undo": true, "rewind >x undo": true, "rewind undo >": true,
		"> ~/.rewind/x echo": true, "cd ~/.rewind; echo x > 1": true, "cd ~/.rewind; echo x >& 1": false,
		"cd ~/.rewind; echo x > ''": true, "cat 2<x; rewind undo": true, "echo x > ; rewind undo": true,
		// here-documents
		"cat <<-E\nrewind undo\n\tE\nrewind list": false, "cat <<-E\nx\n\tE\nrewind undo": true,
		"cat <<\"E\"\nrewind undo\nE": false, "cat <<\\E\nrewind undo\nE": false, "cat << E\nrewind undo\nE": false,
		"cat <<E; rewind undo\nx\nE": true, "cat <<E|rewind undo\nx\nE": true, "(cat <<E)\nrewind undo\nE": false,
		"cat <<E\nx\nE\nE\nrewind undo": true, "cat <<\nrewind undo": true, "cat <<;\nrewind undo": true,
		"cat <<E\nrewind undo": false,
		// quotes and comments
		"a#b; rewind undo": true, "echo x # ; rewind undo": false, "# x\nrewind undo": true, "#\nrewind undo": true,
		`echo "\$(rewind undo)"`: false, "echo \"\\`rewind undo\\`\"": false, `echo "a\"; rewind undo"`: false,
		`echo "a\b"; rewind undo`: true, "echo \"`rewind undo`\"": true, "echo \"`true` rewind undo\"": false,
		`echo "$(echo (a) b); rewind undo"`: false, `echo "$(echo (a); rewind undo)"`: true,
		`echo "$(rewind undo"`:  true,
		"echo \"`rewind undo\"": true, `echo "$x; rewind undo"`: false, `echo "$"; rewind undo`: true,
		`echo '$(rewind undo)'`: false, `'rewind' "undo"`: true, `"" rewind undo`: false, "rewind\\\nundo": false,
		"rewind \\\nundo": true, "rew\\\nind undo": true, "\\rewind undo": true, "rewind\tundo\r": true,
		"echo $ rewind undo":       false,
		"echo $(true) rewind undo": true, "true & rewind undo": true, "'rewind undo'": false, "x=$(rewind undo)": true,
		// what is written
		"rm --file=~/.rewind/x": true, "rm =~/.rewind/x": false, "rm a/b=~/.rewind/x": false, "rm a=~/.rewind/x": true,
		"rm -~/.rewind": false, "cp ~/.rewind/x": true, "cp a ~/.rewind/x": true, "cp ~/.rewind/x b": false,
		"cp":                  false,
		"rsync ~/.rewind/x b": false, "install b ~/.rewind/x": true, "mv a b ~/.rewind": true, "mv ~/.rewind b": true,
		"perl -pi -e x ~/.rewind/x": true, "perl -e x ~/.rewind/x": false, "sed --in-place=b s/a/b/ ~/.rewind/x": true,
		"sed s/a/b/ -i ~/.rewind/x": true, "awk -i inplace x ~/.rewind/x": true, "find ~/.rewind -ok rm x": true,
		"find ~/.rewind -print -delete": true, "find /home -delete": true, "find /home -print": false,
		"rm -rf /": true, "rm -rf /home/u": true, "rm -rf /home/": true, "rm -rf /home/v": false,
		"touch /home/u":  false,
		"shred x/.agent": true, "rm -r x/.agents": false, "rm -r x.agent": false, "rm -rf ~/.rewind/*": true,
		"rm -rf ~/.rewind*": true, "rm -rf ~/*": true, "rm -rf .agent/*": true, "touch .agent/rewind": true,
		"touch .agent/rewindx": false, "touch x/.agent/rewind/y": true, "touch link": true, "touch link2": true,
		"touch links/x": true,
		`rm "" x`:       false, `rm ''`: false,
		// rewind's own words: other names, and flags that a shell may make something else of
		"rewind ls": false, "rewind log -n 3": false, "rewind st": false, "rewind co @- -n": false,
		"rewind co @-":     true,
		"rewind coo @- -n": true, "rewind -C undo list": false, "rewind --directory undo list": false,
		"rewind --color undo list": false, "rewind -C list undo": true, "rewind -test.v undo": true,
		"rewind - undo": true,
		"rewind undo -": true, "rewind undo --$x": true, "rewind undo -$x": true, "rewind undo --dry-run=$x": true,
		"rewind undo --x": false, "rewind undo -x": false, "rewind undo --dry-run=x": false,
		"rewind gc -n --keep": false,
		"rewind gc --keep 3":  true, "rewind gc --keep -n": true, "rewind --nosuch list undo": false,
		"rewind __complete undo": false, "rewind ''": false, "rewind config a": false, "rewind config a b": true,
		"rewind config --unset a": true, "rewind config --tier= a": false, "rewind daemon": false,
		"rewind stores":           false,
		"rewind stores restore x": false, "rewind forks prune": true, "rewind forks rename a b": false,
		"rewind worktrees remove x": true, "rewind worktrees remove x -n": false, "rewind init --adopt": true,
		"rewind bisect run rewind undo": true, "rewind bisect run rewind undo -n": false,
		"rewind bisect bad undo":                 false,
		"rewind bisect last-good -- rewind undo": true, "rewind --help undo": false, "rewind undo -h": false,
		"rewind checkout @- -Cn": true, "rewind checkout @- -C n -n": false, "rewind gc -yn": false,
		"rewind gc -y":  true,
		"rewind --json": false, "rewind undo -n=1": false, "rewind undo -n=0": true, "rewindd serve x": true,
		"rewindd x serve": false, "su 'xcrewind undo'": false, "rewind.exe undo": true, `'C:\r\rewind.exe' undo`: true,
		// variables and places
		"touch $PWD/.agent/rewind/x": true, "touch ${PWD}/.agent/rewind/x": true, "touch $HOME/.rewind/x": true,
		"touch ${HOME}/.rewind/x": true, "touch $REWIND_HOME/x": true, "touch ~u/.rewind": false,
		"touch $OTHER/.rewind/x":   false,
		"cd .. && touch .rewind/x": true, "cd -- .. && touch .rewind/x": true, "cd && touch .rewind/x": false,
		"pushd ..; touch .rewind/x": true, "cd a/.. ; touch .rewind/x": false, "cd /home; cd u; touch .rewind/x": true,
	} {
		if why := guard.Check(payload("Bash", map[string]any{"command": command}), place); (why != "") != refused {
			t.Errorf("%q: %q", command, why)
		}
	}
}

// TestCommandLists: a command that is a list of words is one command; the shells among them run a script.
func TestCommandLists(t *testing.T) {
	for words, refused := range map[string]bool{
		`["rewind","undo"]`: true, `["sh","-c","rewind undo"]`: true, `["rewind undo"]`: false,
		`["echo",";","rewind","undo"]`: false,
		`[]`:                           false, `[""]`: false,
		`["rewind",7,"undo"]`: true, `["rewind","undo"`: false, `["rewind" "undo"]`: false,
		`["rm","~/.rewind/x"]`: true,
	} {
		b := []byte(`{"tool_name":"shell","tool_input":{"command":` + words + `}}`)
		if why := guard.Check(b, place); (why != "") != refused {
			t.Errorf("%s: %q", words, why)
		}
	}
}

// TestText: a text is read as JSON has it, so that a path is what the tool will write.
func TestText(t *testing.T) {
	for _, c := range []struct{ home, path string }{
		{"/h/\U0001F600", `/h/\ud83d\ude00`},
		{"/h/\U0001F600", `/h/\uD83D\uDE00`},
		{"/h/\U00010000", `/h/\ud800\udc00`},
		{"/h/\U0010FFFF", `/h/\udbff\udfff`},
		{"/h/\uD7FF", `/h/\ud7ff`},
		{"/h/\uE000", `/h/\ue000`},
		{"/h/\uFFFD", `/h/\ud83d`},
		{"/h/\uFFFD", `/h/\udc00`},
		{"/h/\uFFFDA", `/h/\ud83d\u0041`},
		{"/h/\uFFFD\uE000", `/h/\ud83d\ue000`},
		{"/h/\uFFFD\U0001F600", `/h/\ud83d\ud83d\ude00`},
		{"/h/\uFFFD\n", `/h/\ud83d\n`},
		{"/h/a\"\\/\b\f\n\r\tb", `/h/a\"\\\/\b\f\n\r\tb`},
		{"/h/é\xff", "/h/\u00e9\xff"},
		{"/h/é", `/h/\u00e9`},
		{"/h/A\uFFFD", `/h/\u0041\udc00`},
		{"/h/\uE000\uFFFD", `/h/\ue000\udc00`},
	} {
		of := func(path string) []byte {
			return []byte(`{"tool_name":"Write","tool_input":{"file_path":"` + path + `"}}`)
		}
		ctx := guard.Context{Home: c.home}
		if guard.Check(of(c.path), ctx) == "" || guard.Check(of(c.path+`/x`), ctx) == "" {
			t.Errorf("%s is not %q", c.path, c.home)
		}
		if why := guard.Check(of(c.path+`x`), ctx); why != "" {
			t.Errorf("%sx is in %q: %s", c.path, c.home, why)
		}
	}
}

// TestPayloads: what stands beside the command is passed over, as deep as that is read; what is broken passes.
func TestPayloads(t *testing.T) {
	const call = `"tool_name":"Bash","tool_input":{"command":"rewind undo"}}`
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for text, refused := range map[string]bool{
		`{` + call: true, ` { "a" : 1 , ` + call: true, "{\"a\":1\t,\r\n" + call: true, `{"a":-1.5e3,` + call: true,
		`{"a":true,"b":null,"c":"x","d":"\"","e":{},"f":[],"g":{"x":[1,"]",{}]},` + call: true,
		`{"a":{"b":1},"c":[1],` + call: true, `{"a":,` + call: false, `{"a" 1,` + call: false,
		`{"a":1 "b":2,` + call: false,
		`{"a":[1 2],` + call:   false, `{"a":[,],` + call: false, `{"a":"\x",` + call: false,
		`{"a":"\u12g4",` + call:    false,
		`{"a":"\u12","b":"` + call: false, `{"a":{"b"},` + call: false, `{,` + call: false, `{a:1,` + call: false,
		`{"a":"\ud83d\u12g4",` + call:       false,
		`{"a":` + nested(1001) + `,` + call: true, `{"a":` + nested(1002) + `,` + call: false,
		`{"a":` + objects(1000) + `,` + call: true, `{"a":` + objects(1001) + `,` + call: false,
		`{"cwd":` + nested(1001) + `,` + call: true, `{"cwd":` + nested(1002) + `,` + call: false,
		`{"tool_input":{"command":"true"},` + call: true, `{"tool_input":7,` + call: true,
		`{` + strings.TrimSuffix(call, "}") + `,"tool_input":{"command":"true"}}`:                  false,
		`{` + strings.TrimSuffix(call, "}") + `,"tool_input":7}`:                                   false,
		`{"tool_input":{"command":["rewind","undo"]}}`:                                             true,
		`{"tool_input":{"command":["rewind","undo"]},"tool_input":{}}`:                             false,
		`{"tool_input":{"file_path":"/home/u/.rewind/x"},"tool_name":"Write"}`:                     true,
		`{"tool_input":{"file_path":"/home/u/.rewind/x","file_path":7},"tool_name":"Write"}`:       true,
		`{"tool_input":{"file_path":"/home/u/.rewind/x"},"tool_input":{},"tool_name":"Write"}`:     false,
		`{"tool_input":{"file_path":"/home/u/.rewind/x"},"tool_name":"Write","tool_name":7}`:       false,
		`{"tool_input":{"file_path":".rewind/x"},"tool_name":"Write","cwd":"/home/u"}`:             true,
		`{"tool_input":{"file_path":".rewind/x"},"tool_name":"Write","cwd":"/home"}`:               false,
		`{"tool_input":{"file_path":"../.rewind/x"},"tool_name":"Write"}`:                          true,
		`{"tool_input":{"file_path":"../.rewind/x"},"tool_name":"Write","cwd":"/home/u","cwd":""}`: true,
		`{"tool_input":{"script":"rewind undo"}}`:                                                  true,
		`{"tool_input":{"input":"rewind undo"}}`:                                                   true,
		`{"tool_input":{"cmd":"rewind undo"}}`:                                                     true,
		`{"tool_input":{"other":"rewind undo"}}`:                                                   false,
		"\xef\xbb\xbf":                                                                             false,
		"\xef\xbb":                                                                                 false,
	} {
		if why := guard.Check([]byte(text), place); (why != "") != refused {
			t.Errorf("%.200q: %q", text, why)
		}
	}
}

// TestPatches: the files of a patch are those of its marks, with the space around them.
func TestPatches(t *testing.T) {
	for line, refused := range map[string]bool{
		"*** Add File: .agent/rewind/x": true, "*** Update File: .agent/rewind/x": true,
		"*** Delete File: .agent/rewind/x": true,
		"*** Move to: .agent/rewind/x":     true, "  *** Add File:  .agent/rewind/x \r": true,
		"+*** Add File: .agent/rewind/x": false,
		"*** Add File: a":                false, "*** Add: .agent/rewind/x": false,
	} {
		b := payload("apply_patch", map[string]any{"input": fmt.Sprintf("*** Begin Patch\n%s\n*** End Patch\n", line)})
		if why := guard.Check(b, place); (why != "") != refused {
			t.Errorf("%q: %q", line, why)
		}
	}
}

// TestPlaces: what is not known of the place is no reason.
func TestPlaces(t *testing.T) {
	for command, refused := range map[string]bool{
		"touch $HOME/.rewind/x": false,
		"touch .agent/rewind/x": true, "rm -rf /": false, "touch /x": false,
		"touch x":       false,
		"rm -rf .agent": true,
	} {
		why := guard.Check(payload("Bash", map[string]any{"command": command}), guard.Context{})
		if (why != "") != refused {
			t.Errorf("%q: %q", command, why)
		}
	}
	root := guard.Context{Home: "/", Cwd: "/"}
	if guard.Check(payload("Bash", map[string]any{"command": "touch /x"}), root) == "" {
		t.Error("a home that is the root holds nothing")
	}
	twice := guard.Context{Home: "/r", Links: func(path string) string {
		return strings.Replace(strings.Replace(path, "/b", "/r", 1), "/a", "/b", 1)
	}}
	for path, refused := range map[string]bool{"/b/x": true, "/a/x": false, "/c": false} {
		if why := guard.Check(payload("Write", map[string]any{"file_path": path}), twice); (why != "") != refused {
			t.Errorf("%s: %q", path, why)
		}
	}
}
