package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A series is what was measured, round by round, by the name of who took part.
type series map[string][]float64

// A part is one of those who take turns. Nil does not take part.
type part struct {
	name string
	do   func(round int) float64
}

// turn is one round: each part in its turn, beginning with another one every round, with everything unwritten flushed
// before: nobody pays for another's bytes. Without into it does not count.
func (b *bench) turn(round int, into series, parts ...part) {
	for i := range parts {
		p := parts[(i+round)%len(parts)]
		if p.do == nil {
			continue
		}
		flushDisk()
		var took float64
		if err := caught(func() { took = p.do(round) }); err != nil {
			want(false, "%s: %w", p.name, err)
		}
		must(b.ctx.Err())
		if into != nil {
			into[p.name] = append(into[p.name], took)
		}
	}
}

// race has so many rounds, of which the first do not count.
func (b *bench) race(warm, rounds int, parts ...part) series {
	got := series{}
	for round := range warm + rounds {
		b.turn(round, got.from(round, warm), parts...)
	}
	return got
}

// from is the series from a round on, before that nothing.
func (s series) from(round, warm int) series {
	if round < warm {
		return nil
	}
	return s
}

// flushDisk writes everything to disk that is only in memory yet.
func flushDisk() { _, _, _ = syscall.Syscall(syscall.SYS_SYNC, 0, 0, 0) }

// settle waits until files are so old that nobody has to read them twice: one that was written in the last moments may
// be written again without its time telling.
func (b *bench) settle() {
	flushDisk()
	b.wait(b.opt.age)
}

func (b *bench) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
		must(errors.New("interrupted"))
	}
}

// median of the values; 0 without any.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// highest is the value that p of 100 values do not exceed: the nearest rank; 0 without any.
func highest(v []float64, p int) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[max((len(v)*p+99)/100, 1)-1]
}

// ratios divides the values of two, round by round.
func ratios(of, by []float64) (v []float64) {
	for i := range min(len(of), len(by)) {
		if by[i] > 0 {
			v = append(v, of[i]/by[i])
		}
	}
	return v
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
