package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rewind/bench/workload"
)

// What sessions are asked of: many small files, one of many turns, a long one, and old ones that are heard of for the
// first time.
const (
	manySessions = 1000
	smallSession = 50_000 // bytes
	manyTurns    = 50_000
	longSession  = 240_000_000
	oldSession   = 300_000_000
	oldSessions  = 5
	shownLast    = 30 // messages
)

// sessions are the commands that tell of conversations, and a hook that hears of an old one, beside a program that only
// counts the lines of the same files. First is the first answer of a daemon, which is started for it.
func (t *table) sessions(_ *site) {
	got := series{}
	many := t.small("many")
	defer func() { must(many.stop()) }()
	var files []string
	for n := range manySessions {
		k := many.talk(n + 1)
		_, _, err := workload.WriteSession(k.path, k.id, many.rewind.tree, smallSession, uint64(k.n))
		must(err)
		files = append(files, k.path)
	}
	many.rewind.do("sessions", "--import")
	many.asked(got, "sessions", files, 100, "sessions")
	many.asked(got, "all sessions", files, manySessions, "sessions", "-n", "0")

	turns := t.small("turns")
	defer func() { must(turns.stop()) }()
	k := turns.talk(1)
	k.writeTurns(manyTurns)
	turns.rewind.do("sessions", "--import")
	turns.asked(got, "turns", []string{k.path}, 100, "turns", k.id)
	turns.asked(got, "all turns", []string{k.path}, manyTurns, "turns", k.id, "-n", "0")

	long := t.small("long")
	defer func() { must(long.stop()) }()
	k = long.newTalk(1, longSession)
	long.asked(got, "show", []string{k.path}, shownLast, "show", "@", "--messages", fmt.Sprint(shownLast))

	plain := t.small("plain")
	defer func() { must(plain.stop()) }()
	for range t.opt.starts {
		plain.rewind.end()
		flushDisk()
		took, _ := plain.rewind.c.run(t.rewind, "status")
		got["start"] = append(got["start"], took)
	}
	for n := range oldSessions {
		k := plain.talk(n + 1)
		_, _, err := workload.WriteSession(k.path, k.id, plain.rewind.tree, oldSession, uint64(k.n))
		must(err)
		t.settle()
		plain.rewind.c.run(t.rewind, "status")
		got["heard floor"] = append(got["heard floor"], k.prompt(k.floor))
		got["heard"] = append(got["heard"], k.prompt(plain.rewind.c))
		plain.rewind.end() // what is captured of it behind the hook is no part of the next one's
		must(os.Remove(k.path))
	}
	t.tell("sessions", "", 0, got)
}

// small is a small tree with sessions of its own.
func (t *table) small(name string) *site {
	s := t.generated("sessions-"+name, 100)
	s.begin()
	s.settle()
	return s
}

// asked has a command answer again and again, and then as the first one of a daemon, beside a count of the lines of the
// files that it tells of.
func (s *site) asked(got series, name string, files []string, lines int, args ...string) {
	w := s.rewind
	one := func() float64 {
		took, out := w.c.run(append([]string{s.bench.rewind}, args...)...)
		want(strings.Count(out, "\n") >= lines, "%s: %.300q", strings.Join(args, " "), out)
		return took
	}
	one()
	s.settle()
	const warm = 2
	for round := range warm + s.opt.reads {
		s.turn(round, got.from(round, warm), part{name, func(int) float64 { return one() }}, part{name + " lines", func(int) float64 {
			took, _ := w.c.run(append([]string{"wc", "-l"}, files...)...)
			return took
		}})
	}
	for range s.opt.starts {
		w.end()
		flushDisk()
		got[name+" first"] = append(got[name+" first"], one())
		w.pid()
	}
}

// writeTurns writes so many short turns.
func (k *talk) writeTurns(n int) {
	must(os.MkdirAll(filepath.Dir(k.path), 0o700))
	f := get(os.Create(k.path))
	out := bufio.NewWriterSize(f, 1<<20)
	s := workload.NewSession(k.id, k.rewind.tree, uint64(k.n))
	for range n {
		get(out.Write(s.Turn(1)))
	}
	must(errors.Join(out.Flush(), f.Close()))
}
