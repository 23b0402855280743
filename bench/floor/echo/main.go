// Command echo is a daemon that does nothing: it reads the payload of a hook and answers, as the real one does in the
// end, from a process of its own as that is. What a hook costs with it, no hook can be below.
//
//	echo HOME
//
// It listens where clients of that home look for their daemon, and prints how many whole calls came to it: 0 when it is
// ready, then for each line of its standard input, with which it ends.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"rewind/internal/relay"
	"rewind/server/door"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("one argument is wanted: a home")
	}
	dir, err := relay.MakeDir(args[0])
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	socket, err := relay.SocketPath(args[0])
	if err != nil {
		return err
	}
	signal.Ignore(os.Interrupt) // whoever started it closes its input then
	ln, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	var calls atomic.Int64
	// A hook that is cut is none.
	door.New(ln, func(x *door.Exchange) {
		if _, err := io.Copy(io.Discard, x); err == nil {
			calls.Add(1)
		}
	}, time.Second, func(error) {}).Serve()
	fmt.Fprintln(out, 0)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fmt.Fprintln(out, calls.Load())
	}
	return errors.Join(lines.Err(), ln.Close())
}
