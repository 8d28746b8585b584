package peal

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Function is what is called. An error fails the run, and is in its output; so is a panic, with its
// stack. An error that has an ExitCode() int, as those of os/exec, gives the run that code.
type Function func(run *Run) error

// How often it is looked whether a run whose context is in use was cancelled.
const look = 50 * time.Millisecond

// Run is one call of a function, and valid until that returns.
type Run struct {
	run     *C.peal_run
	mutex   sync.Mutex // of what follows
	context context.Context
	cancel  context.CancelFunc
	watched chan struct{} // closed when nobody looks at `run` any more
}

// Logf adds a line to the output of the run.
func (run *Run) Logf(format string, values ...interface{}) {
	line := C.CString(strings.ReplaceAll(fmt.Sprintf(format, values...), "\x00", "?"))
	defer C.free(unsafe.Pointer(line))
	C.bridge_log(run.run, line)
}

// Progress is shown while it runs.
func (run *Run) Progress(percent int, what string) {
	text := C.CString(what)
	defer C.free(unsafe.Pointer(text))
	C.peal_progress(run.run, C.int(percent), text)
}

// Cancelled: it was killed, has timed out, or its node stops. Return soon.
func (run *Run) Cancelled() bool { return bool(C.peal_cancelled(run.run)) }

// Sleep returns ErrLost as soon as the run is cancelled.
func (run *Run) Sleep(length time.Duration) error {
	if C.peal_sleep(run.run, ms(length)) < 0 {
		return &Error{ErrLost, "run " + run.ID() + " is cancelled"}
	}
	return nil
}

// ID of the run, as `peal runs` shows it.
func (run *Run) ID() string { return C.GoString(C.peal_run_id(run.run)) }

// Job is the name of its job.
func (run *Run) Job() string { return C.GoString(C.peal_run_job(run.run)) }

// Tick is the time that it is for.
func (run *Run) Tick() time.Time { return time.UnixMilli(int64(C.peal_run_tick(run.run))).UTC() }

// Attempt counts from 1.
func (run *Run) Attempt() int { return int(C.peal_run_attempt(run.run)) }

// Fence grows with each start of the job.
func (run *Run) Fence() int64 { return int64(C.peal_run_fence(run.run)) }

// Traceparent is the span of this run (W3C trace context), the parent of those that are made in it.
func (run *Run) Traceparent() string { return C.GoString(C.peal_run_traceparent(run.run)) }

// Param is a parameter of the run, and whether it has one of that name.
func (run *Run) Param(name string) (string, bool) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	value := C.peal_param(run.run, text)
	return C.GoString(value), value != nil
}

// Context ends when the run is cancelled, and when the function has returned.
func (run *Run) Context() context.Context {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	if run.context == nil {
		run.context, run.cancel = context.WithCancel(context.Background())
		run.watched = make(chan struct{})
		go run.watch(run.context)
	}
	return run.context
}

func (run *Run) watch(ctx context.Context) {
	defer close(run.watched)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for !run.Cancelled() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	run.cancel()
}

func (run *Run) end() {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	if run.context == nil {
		run.context = context.Background() // nobody begins to watch now
		return
	}
	run.cancel()
	<-run.watched
}

// call returns the exit code.
func call(function Function, run *Run) (code int) {
	defer run.end()
	defer func() {
		if panicked := recover(); panicked != nil {
			run.Logf("panic: %v\n\n%s", panicked, debug.Stack())
			code = 2 // as of a program that panics
		}
	}()
	err := function(run)
	if err == nil {
		return 0
	}
	run.Logf("%v", err)
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	return 1
}

//export bridgeCall
func bridgeCall(run *C.peal_run, function C.uintptr_t) C.int {
	return C.int(call(cgo.Handle(function).Value().(Function), &Run{run: run}))
}

//export bridgeTell
func bridgeTell(log C.uintptr_t, level C.enum_peal_level, message *C.char) {
	cgo.Handle(log).Value().(func(Level, string))(Level(level), C.GoString(message))
}
