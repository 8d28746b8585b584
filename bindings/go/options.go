package peal

// #include <stdlib.h>
// #include <peal.h>
import "C"

import (
	"time"
	"unsafe"
)

// Option says more about a function than its name and its schedule.
type Option func(job *C.peal_job, memory *arena)

// What is done about a tick while an earlier run has not ended.
type Overlap int

const (
	Skip    Overlap = C.PEAL_SKIP
	Allow   Overlap = C.PEAL_ALLOW
	Queue   Overlap = C.PEAL_QUEUE
	Replace Overlap = C.PEAL_REPLACE
)

// Which ticks are made up for when none of the program's processes was there.
type CatchUp int

const (
	Last CatchUp = C.PEAL_LAST
	None CatchUp = C.PEAL_NONE
	All  CatchUp = C.PEAL_ALL
)

// TZ is the time zone of the schedule; else the machine's when it was first registered.
func TZ(zone string) Option {
	return func(job *C.peal_job, memory *arena) { job.tz = memory.text(zone) }
}

// Interval takes the place of a schedule, "": every so often, in whole seconds.
func Interval(length time.Duration) Option {
	return func(job *C.peal_job, _ *arena) { job.interval_ms = ms(length) }
}

// Start is the time before which there are no ticks, and that an interval counts from.
func Start(at time.Time) Option {
	return func(job *C.peal_job, _ *arena) { job.start_ms = C.int64_t(at.UnixMilli()) }
}

// StartIn counts from the function's first registration in the store, whoever makes it.
func StartIn(length time.Duration) Option {
	return func(job *C.peal_job, _ *arena) { job.start_ms = -ms(length) - 1 }
}

// Timeout is when the run's context ends.
func Timeout(length time.Duration) Option {
	return func(job *C.peal_job, _ *arena) { job.timeout_ms = ms(length) }
}

// Deadline is how late a call may be; a later one is not made.
func Deadline(length time.Duration) Option {
	return func(job *C.peal_job, _ *arena) { job.deadline_ms = ms(length) }
}

// Jitter spreads calls over so long after their tick.
func Jitter(length time.Duration) Option {
	return func(job *C.peal_job, _ *arena) { job.jitter_ms = ms(length) }
}

// OnOverlap is Skip unless it is given.
func OnOverlap(overlap Overlap) Option {
	return func(job *C.peal_job, _ *arena) { job.overlap = C.enum_peal_overlap(overlap) }
}

// OnMissed is Last unless it is given.
func OnMissed(catchUp CatchUp) Option {
	return func(job *C.peal_job, _ *arena) { job.catch_up = C.enum_peal_catch_up(catchUp) }
}

// Retries are further attempts after a failure, each after so long; 0: 10 s.
func Retries(count int, wait time.Duration) Option {
	return func(job *C.peal_job, _ *arena) {
		job.retries = C.int(count)
		job.retry_wait_ms = ms(wait)
	}
}

// Local functions are called in each process, not once in the cluster.
func Local() Option {
	return func(job *C.peal_job, _ *arena) { job.local = true }
}

// Where selects nodes by their labels.
func Where(selector string) Option {
	return func(job *C.peal_job, memory *arena) { job.where = memory.text(selector) }
}

// More has any other fields of a job, as YAML or JSON.
func More(fields string) Option {
	return func(job *C.peal_job, memory *arena) { job.more = memory.text(fields) }
}

func ms(length time.Duration) C.int64_t {
	return C.int64_t(length.Milliseconds())
}

// arena is C memory for the time of one call.
type arena struct {
	blocks []unsafe.Pointer
}

// text is NULL for "".
func (memory *arena) text(text string) *C.char {
	if text == "" {
		return nil
	}
	block := C.CString(text)
	memory.blocks = append(memory.blocks, unsafe.Pointer(block))
	return block
}

func (memory *arena) place(file string, line int) *C.peal_place {
	place := (*C.peal_place)(C.calloc(1, C.sizeof_peal_place))
	memory.blocks = append(memory.blocks, unsafe.Pointer(place))
	place.file = memory.text(file)
	place.line = C.int(line)
	return place
}

func (memory *arena) free() {
	for _, block := range memory.blocks {
		C.free(block)
	}
}
