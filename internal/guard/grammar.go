package guard

// grammar is what rewind takes: each command with its other names and its flags; the first is the program itself, whose
// flags all others have but those behind "|". A flag has its letter behind it, and "=" where a value has to follow;
// "--" at the end: behind the first word nothing is a flag. TestGuardGrammar holds it against the program, and writes
// it with -update.
const grammar = `: color= directory,C= help,h json | plain
agents:
bisect:
bisect bad: session=
bisect good: session=
bisect last-good: link= no-link session= timeout= --
bisect log:
bisect reset:
bisect run: bad= good= link= no-link session= timeout= --
bisect skip: session=
bisect start: link= no-link session=
blame: ignore-space,w lines,L= porcelain,p session=
cat: session=
checkout (co restore): abort code-only context-only continue dry-run,n exact force in-place into= keep-mine merge ours patch,p
  plan= session= tag= theirs title=
checkpoints:
clone: session= title=
compare: name-only patch,p session= stat
completion:
completion bash: no-descriptions
completion fish: no-descriptions
completion powershell: no-descriptions
completion zsh: no-descriptions
config: agents= dry-run,n global register-hooks tier= unregister-hooks unset
daemon:
daemon status:
daemon stop:
diff: name-only name-status session= since-fork stat unified,U=
doctor: dry-run,n mend yes,y
environment:
events: since=
exit-codes:
fork: checkout copy= dry-run,n exact git git-branch= link= new plan= self-test session= title= worktree=
forks:
forks archive:
forks delete: dry-run,n force yes,y
forks list: all,a
forks promote:
forks prune: dry-run,n keep= kind= older= unused yes,y
forks rename: force
forks restore:
forks show:
forward: code-only context-only dry-run,n exact force in-place keep-mine merge ours plan= session= tag= theirs
future: session=
gc: dry-run,n keep= max-size= older= yes,y
grep: after-context,A= all,a before-context,B= code context= conversation count,c files-with-matches,l fixed-strings,F
  ignore-case,i limit= line-number,n now session= word-regexp,w
hook: agent= deadline= event= id=
init: adopt agents= dry-run,n mode= now remove yes,y
list (log ls): agent= all,a by= changed,G= format= graph grep= limit,n= name-only no-follow patch,p relative session= since= stat
  steps text,S= tool= turns until=
man: remove
mcp:
ops: all,a limit,n=
pick: dry-run,n ours plan= session= theirs
purge: blob= dry-run,n found= text-file= yes,y
redo: code-only dry-run,n exact keep-mine merge ours plan= session= theirs
revert: dry-run,n merge ours plan= session= theirs
save: message,m= session=
sessions: all,a import limit,n=
sessions restore: dry-run,n
show: messages= patch,p session= stat
status (st): format= verbose,v
stores:
stores join:
stores list:
stores remove: dry-run,n now yes,y
stores restore: dry-run,n
switch: code-only context-only dry-run,n exact force in-place keep-mine merge ours plan= tag= theirs
tag: delete,d force,f session=
tree: all,a session=
turns: limit,n= session=
ui: no-open
undo: code-only dry-run,n exact keep-mine merge ours plan= session= theirs to= turn
undo-restore: code-only context-only dry-run,n exact force plan=
uninstall: dry-run,n
validate:
verify: quick repair
version:
worktrees:
worktrees list:
worktrees remove: dry-run,n force
`
