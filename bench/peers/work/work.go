// Package work is what the peers are given to do: so many jobs, due at each second or all at one
// instant, that start the tiny program of bench/agent. Nothing is captured or kept: it is the
// cheapest start that os/exec has. With READ_OUTPUT in the environment both outputs of the program are
// read to their end, as peal reads them, and then forgotten.
package work

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// Work is read from the command line: COUNT each|UNIX_S PROGRAM [ARGUMENT]...
type Work struct {
	Count   int
	At      time.Time // zero: at each second
	command []string
	null    *os.File // opened once; os/exec would open it three times for each start
	reads   bool     // both outputs
}

// Must ends the program, and so the measurement, when something fails.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
		os.Exit(1)
	}
}

// Read takes the work from the command line.
func Read() *Work {
	if len(os.Args) < 4 {
		Must(fmt.Errorf("usage: COUNT each|UNIX_S PROGRAM [ARGUMENT]..."))
	}
	w := &Work{command: os.Args[3:], reads: os.Getenv("READ_OUTPUT") != ""}
	var err error
	w.Count, err = strconv.Atoi(os.Args[1])
	Must(err)
	if os.Args[2] != "each" {
		at, err := strconv.ParseInt(os.Args[2], 10, 64)
		Must(err)
		w.At = time.Unix(at, 0).UTC()
	}
	w.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	Must(err)
	return w
}

// Cron is when the jobs are due, in UTC, with seconds first.
func (w *Work) Cron() string {
	if w.At.IsZero() {
		return "* * * * * *"
	}
	return fmt.Sprintf("%d %d %d %d %d *", w.At.Second(), w.At.Minute(), w.At.Hour(), w.At.Day(), w.At.Month())
}

// Run is the job.
func (w *Work) Run() {
	run := exec.Cmd{
		Path: w.command[0], Args: w.command, Env: []string{},
		Stdin: w.null, Stdout: w.null, Stderr: w.null,
	}
	if w.reads {
		run.Stdout, run.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	}
	Must(run.Run())
}

// Wait says that all jobs are scheduled, and waits for the end of the measurement.
func (w *Work) Wait() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Println("ready")
	<-end
	os.Exit(0) // whatever still waits for its start
}
