package server

import (
	"os"
	"runtime"
	"testing"
	"time"

	"rewind/api"
)

// TestNothingStaysBehind: who has asked and gone leaves no goroutine and no open file in the daemon.
func TestNothingStaysBehind(t *testing.T) {
	newHome(t)
	r := start(t, daemonOptions{})
	p := r.newProject(t)
	ask := func() {
		ctx := t.Context()
		for what, err := range map[string]error{
			"sessions": called(api.Call(ctx, r.client, api.Sessions, api.SessionsRequest{Project: p}, nil)),
			"tree":     called(api.Call(ctx, r.client, api.Tree, api.TreeRequest{Project: p, All: true}, nil)),
			"forks":    called(api.Call(ctx, r.client, api.Forks, api.ForksRequest{Project: p}, nil)),
			"list":     called(api.Call(ctx, r.client, api.List, api.ListRequest{Project: p}, nil)),
		} {
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		hear(t, r.client, p, nil).stop()
	}
	has := func() (n [2]int) {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return [2]int{runtime.NumGoroutine(), len(files)}
	}
	for range 3 {
		ask()
	}
	time.Sleep(time.Second) // what the first ones began has ended
	before := has()
	for range 20 {
		ask()
	}
	after := has()
	for began := time.Now(); (after[0] > before[0] || after[1] > before[1]) && time.Since(began) < 20*time.Second; after = has() {
		time.Sleep(50 * time.Millisecond)
	}
	if after[0] > before[0] || after[1] > before[1] {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines and %d files, before %d and %d:\n%s", after[0], after[1], before[0], before[1],
			stacks[:runtime.Stack(stacks, true)])
	}
}

func called[T any](_ T, err error) error { return err }
