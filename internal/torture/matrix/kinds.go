package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rewind/internal/torture"
)

// runJob runs a job in a process of its own and gives its figures. What fails is printed.
func (o *options) runJob(j job) torture.Figures {
	f := torture.Figures{Row: j.Row, Test: j.ID(), Seed: j.seed, Unit: j.Size.Unit}
	began := time.Now()
	var problem string
	switch j.Kind {
	case torture.Case:
		problem = o.runCase(j, &f)
	case torture.Fuzz:
		problem = o.runFuzz(j, &f)
	case torture.Broken:
		problem = o.runFault(torture.FaultOf(j.Name), &f)
	case torture.Rest:
		problem = o.runRest(j, &f)
	}
	f.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	if problem != "" {
		f.Failed = true
		fmt.Printf("%s\n%s has failed\n", problem, j.ID())
	}
	return f
}

// goTest runs tests of a package.
func (o *options) goTest(pkg string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", append(append([]string{"test", "-count=1"}, args...), "./"+pkg)...)
	cmd.Dir, cmd.Env = o.dir, append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// runCase runs a test. One that has a size reports its figures itself; of another each case counts as a point.
func (o *options) runCase(j job, f *torture.Figures) (problem string) {
	dir, err := os.MkdirTemp("", "matrix-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, "report")
	env := []string{torture.EnvFull + "=1", torture.EnvReport + "=" + report, torture.EnvSeed + "=" + strconv.FormatUint(j.seed, 10)}
	if j.points > 0 {
		env = append(env, torture.EnvPoints+"="+strconv.Itoa(j.points))
	}
	out, err := o.goTest(j.Package, env, "-timeout", "0", "-v", "-run", "^"+j.Name+"$")
	if own, rerr := torture.ReadReports(report); rerr == nil && len(own) == 1 {
		*f = own[0]
	} else {
		f.Points = int64(bytes.Count(out, []byte("--- PASS")))
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s\n%v; to repeat: %s go test -count=1 -run '^%s$' ./%s", tail(out), err, strings.Join(env, " "), j.Name,
			j.Package)
	case !bytes.Contains(out, []byte("--- PASS: "+j.Name)):
		return fmt.Sprintf("%s\n%s was not run", tail(out), j.Name)
	}
	return ""
}

var (
	crasherRE = regexp.MustCompile(`Failing input written to (\S+)`)
	execsRE   = regexp.MustCompile(`execs: (\d+)`)
)

// runFuzz fuzzes a target for so many seconds, by one worker.
func (o *options) runFuzz(j job, f *torture.Figures) (problem string) {
	f.Seed = 0 // go's own
	out, err := o.goTest(j.Package, nil, "-timeout", "0", "-run", "^$", "-fuzz", "^"+j.Name+"$", "-fuzztime", fmt.Sprintf("%ds", j.points),
		"-parallel", "1")
	if all := execsRE.FindAllSubmatch(out, -1); len(all) > 0 {
		f.Execs, _ = strconv.ParseInt(string(all[len(all)-1][1]), 10, 64)
	}
	if m := crasherRE.FindSubmatch(out); m != nil {
		f.Note = filepath.ToSlash(filepath.Join(j.Package, string(m[1])))
	} else if bytes.Contains(out, []byte("context deadline exceeded")) { // how go at times tells that the time is over
		err = nil
	}
	if err != nil || f.Execs == 0 {
		return fmt.Sprintf("%s\n%v", tail(out), err)
	}
	f.Points = int64(j.points)
	return ""
}

// runRest runs what a package has beside the matrix, in its long form.
func (o *options) runRest(j job, f *torture.Figures) (problem string) {
	out, err := o.goTest(j.Package, []string{torture.EnvFull + "=1"}, "-timeout", "0", "-v", "-skip", "T[0-9]")
	f.Points = max(1, int64(bytes.Count(out, []byte("--- PASS"))))
	if err != nil {
		return fmt.Sprintf("%s\n%v", tail(out), err)
	}
	return ""
}

// quiet are the lines that only say that something goes well: with hundreds of cases they would be all that is left.
var quiet = regexp.MustCompile(`(?m)^ *(?:=== (?:RUN|PAUSE|CONT|NAME) |--- PASS: ).*\n`)

// tail is the end of what a test printed, of what counts.
func tail(out []byte) string {
	const most = 6000
	out = quiet.ReplaceAll(out, nil)
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return strings.TrimSpace(string(out))
}
