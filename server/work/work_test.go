package work

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Idle is called when nothing has run for a while, also when nobody ever came, and not while something runs.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var idle atomic.Int64
		c := &Count{After: time.Minute, Idle: func() { idle.Add(1) }}
		c.Start()
		time.Sleep(time.Minute - time.Second)
		if !c.Begin() {
			t.Fatal("refused")
		}
		c.More()
		time.Sleep(time.Hour)
		c.Done()
		time.Sleep(time.Hour)
		if n := idle.Load(); n != 0 || c.Running() != 1 {
			t.Errorf("idle %d times while %d run", n, c.Running())
		}
		c.Done()
		time.Sleep(time.Minute + time.Second)
		if n := idle.Load(); n != 1 {
			t.Errorf("idle %d times", n)
		}
	})
}

// After Close no work is taken, what belongs to work that runs is, and all who wait hear of the end of the last.
func TestQuiet(t *testing.T) {
	c := &Count{}
	<-c.Quiet()
	c.Begin()
	one, two := c.Quiet(), c.Quiet()
	c.Close()
	if c.Begin() {
		t.Error("work is taken after the end")
	}
	c.More()
	c.Done()
	select {
	case <-one:
		t.Error("quiet while something runs")
	default:
	}
	c.Done()
	<-one
	<-two
}
