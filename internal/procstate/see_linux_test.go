package procstate

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

func TestSee(t *testing.T) {
	proc := fstest.MapFS{}
	put := func(name, text string) { proc[name] = &fstest.MapFile{Data: []byte(text)} }
	put("1/stat", "1 (rewindd) S 0 1")
	put("1/task/1/stat", "1 (rewindd) S 0 1")
	put("1/task/2/stat", "2 (rewindd) S 0 1")
	put("2/stat", "2 (a (b) c) T 0 1")
	put("3/stat", "3 (x) S 0 1")
	put("3/task/3/stat", "3 (x) S 0 1")
	put("3/task/4/stat", "4 (x) D 0 1")
	put("4/stat", "4 (x) Z 0 1")
	put("5/stat", "broken")
	put("6/stat", "6 (x) t 0")
	for pid, want := range map[int]Process{
		1: {1, "rewindd", Alive}, 2: {2, "a (b) c", Stopped}, 3: {3, "x", Disk}, 4: {4, "x", Gone}, 5: {5, "", Alive},
		6: {6, "x", Stopped}, 7: {7, "", Gone},
	} {
		if got := see(proc, pid); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestSeeStopped looks at a real process.
func TestSeeStopped(t *testing.T) {
	if p := See(os.Getpid()); p.State != Alive && p.State != Disk || p.Name == "" {
		t.Errorf("%+v", p)
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); See(cmd.Process.Pid).State != Stopped; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%+v", See(cmd.Process.Pid))
		}
	}
}

// TestOnSilence: one that answers nobody is told of at once, one that works is not.
func TestOnSilence(t *testing.T) {
	var said []Process
	told := OnSilence(func(p Process) { said = append(said, p) })
	for range 2 * diskLooks {
		if told(os.Getpid(), true) {
			t.Fatalf("this process works: %+v", said)
		}
	}
	if !told(os.Getpid(), false) || len(said) != 1 || said[0].PID != os.Getpid() {
		t.Errorf("%+v", said)
	}
	if told := OnSilence(func(p Process) { said = append(said, p) }); !told(0, false) || said[1].PID != 0 {
		t.Errorf("not known which: %+v", said)
	}
}
