// Command gc measures rewind's gc: on a store of many objects and checkpoints, and by replaying months of heavy use.
//
//	go run ./bench/gc -json bench/results/gc.json                  # 100,000 checkpoints, over 1,000,000 objects
//	go run ./bench/gc -checkpoints 5000 -files 500                 # a look
//	go run ./bench/gc -ops replay -repo <dir> -days 30             # a month of a real history; -days 365: a year
//	go run ./bench/gc -keep <dir>; go run ./bench/gc -at <dir>     # make the store once, measure it again
//	go run ./bench/gc -ops collect -at <dir> -profile <dir>        # gc in this process, profiled
//
// The store is made by the events of an agent's hooks, taken in by the engine in this process, each checkpoint captured and committed as any other; only the
// processes of the hooks are left out, and the clock is an injected one, by which the history takes half a year. What is measured are the programs, as they are
// shipped, on copies of that store: gc alone, and in the daemon while hooks come; list, show and status as whole processes.
//
// The replay takes the newest changes of a git repository, each hunk of a commit as one call of an agent's tool, 500 a day, and runs gc with the default settings
// after each month. Where the history ends, generated edits go on.
package main
