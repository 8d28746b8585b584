// Package peal has scheduled functions, elections and locks, alone or across a cluster.
//
//	peal.Every("cleanup", "*/5 * * * *", cleanup, peal.TZ("Asia/Shanghai"))
//	err := peal.RunForever(ctx)
//
// A program that uses it is a node: each tick of a function is called once among all processes that
// share a store, however many there are. Everything may be called from any goroutine.
package peal

// #cgo pkg-config: peal
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/cgo"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Level of a message for Options.Log.
type Level int

const (
	Debug   Level = C.PEAL_DEBUG
	Info    Level = C.PEAL_INFO
	Warning Level = C.PEAL_WARNING
	Problem Level = C.PEAL_ERROR
)

// Options of a node; all zero is a good choice.
type Options struct {
	Store        string        // "": PEAL_STORE, else embedded: "sqlite"
	Data         string        // folder; "": PEAL_DATA, else $XDG_STATE_HOME/peal or its like
	Program      string        // "": the name of the executable
	Version      int           // of the program's functions: a lower one never replaces a higher
	Labels       string        // "zone=eu,disk=ssd", for Where
	Threads      int           // how many functions run at a time; 0: 4
	Timeout      time.Duration // how long Open tries; 0: 5 s
	InBackground bool          // Open returns at once, and goes on to try
	NoFunctions  bool          // locks, elections and selections alone: this process is no node
	// nil: warnings and errors go to stderr. May be called from any goroutine.
	Log func(level Level, message string)
}

// Node is this process among those that share a store. nil is the program's own, which its first use
// makes with the options of the environment.
type Node struct {
	node    *C.peal_node
	mutex   sync.Mutex
	handles []cgo.Handle // what C has of Go, until the node is closed
}

var program Node

func (node *Node) orProgram() *Node {
	if node == nil {
		return &program
	}
	return node
}

// Open joins the cluster, or opens the embedded store.
func Open(options Options) (*Node, error) {
	var memory arena
	defer memory.free()
	var log cgo.Handle
	node := &Node{}
	if options.Log != nil {
		log = cgo.NewHandle(options.Log)
		node.handles = append(node.handles, log)
	}
	inC := C.peal_options{
		store:         memory.text(options.Store),
		data:          memory.text(options.Data),
		program:       memory.text(options.Program),
		version:       C.int(options.Version),
		labels:        memory.text(options.Labels),
		threads:       C.int(options.Threads),
		timeout_ms:    C.int(options.Timeout.Milliseconds()),
		in_background: C.bool(options.InBackground),
		no_functions:  C.bool(options.NoFunctions),
	}
	err := try(func() C.int {
		node.node = C.bridge_open(&inC, C.uintptr_t(log))
		if node.node == nil {
			return C.int(C.peal_failure())
		}
		return 0
	})
	if err != nil {
		node.release()
		return nil, err
	}
	return node, nil
}

func (node *Node) release() {
	for _, handle := range node.handles {
		handle.Delete()
	}
	node.handles = nil
}

// Every registers a function of this program under a name that is unique in the store. The schedule is
// cron with 5, 6 or 7 fields, "@every 90s", "@daily" ...; "": by Interval, or on request alone. What is
// wrong is said at once, with the place of the call.
func (node *Node) Every(name, schedule string, function Function, options ...Option) error {
	_, file, line, _ := runtime.Caller(1)
	return node.orProgram().add(file, line, name, schedule, function, options)
}

// Every of the program's own node.
func Every(name, schedule string, function Function, options ...Option) error {
	_, file, line, _ := runtime.Caller(1)
	return program.add(file, line, name, schedule, function, options)
}

// EveryCommand has a line for /bin/sh in place of a function; its lines are the run's output.
func (node *Node) EveryCommand(name, schedule, command string, options ...Option) error {
	_, file, line, _ := runtime.Caller(1)
	options = append([]Option{func(job *C.peal_job, memory *arena) {
		job.command = memory.text(command)
	}}, options...)
	return node.orProgram().add(file, line, name, schedule, nil, options)
}

// EveryHTTP has an HTTP call in place of a function: a URL, or the fields of a job's "http" as YAML or
// JSON. It needs peal-call.
func (node *Node) EveryHTTP(name, schedule, http string, options ...Option) error {
	_, file, line, _ := runtime.Caller(1)
	options = append([]Option{func(job *C.peal_job, memory *arena) {
		job.http = memory.text(http)
	}}, options...)
	return node.orProgram().add(file, line, name, schedule, nil, options)
}

func (node *Node) add(file string, line int, name, schedule string, function Function,
	options []Option) error {
	var memory arena
	defer memory.free()
	job := C.peal_job{
		name:     memory.text(name),
		schedule: memory.text(schedule),
		place:    memory.place(file, line),
	}
	for _, option := range options {
		option(&job, &memory)
	}
	var handle cgo.Handle
	if function != nil {
		handle = cgo.NewHandle(function)
		node.keep(handle)
	}
	return try(func() C.int { return C.bridge_add(node.node, &job, C.uintptr_t(handle)) })
}

func (node *Node) keep(handle cgo.Handle) {
	node.mutex.Lock()
	node.handles = append(node.handles, handle)
	node.mutex.Unlock()
}

func (node *Node) named(name string, call func(*C.peal_node, *C.char) C.int) error {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return try(func() C.int { return call(node.orProgram().node, text) })
}

// Remove has the function no longer called here. Its job stays in the store.
func (node *Node) Remove(name string) error {
	return node.named(name, func(node *C.peal_node, name *C.char) C.int {
		return C.peal_remove(node, name)
	})
}

// Delete removes the job for all.
func (node *Node) Delete(name string) error {
	return node.named(name, func(node *C.peal_node, name *C.char) C.int {
		return C.peal_delete(node, name)
	})
}

// Trigger asks for a run now, and returns its id.
func (node *Node) Trigger(name string, params map[string]string) (string, error) {
	var memory arena
	defer memory.free()
	lines := make([]string, 0, len(params))
	for key, value := range params {
		lines = append(lines, key+"="+value)
	}
	sort.Strings(lines)
	text := memory.text(strings.Join(lines, "\n"))
	var id [27]C.char
	err := node.named(name, func(node *C.peal_node, name *C.char) C.int {
		return C.peal_trigger(node, name, text, &id[0])
	})
	return C.GoString(&id[0]), err
}

// Trigger of the program's own node.
func Trigger(name string, params map[string]string) (string, error) {
	return program.Trigger(name, params)
}

// Stop takes no further ticks; Wait returns when the functions that run have.
func (node *Node) Stop() { C.peal_stop(node.orProgram().node) }

// Wait calls functions until the context ends or Stop is called, then waits for those that run.
func (node *Node) Wait(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() {
		ended <- try(func() C.int { return C.peal_wait(node.orProgram().node) })
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	for { // again: the program's own node may not have been made yet
		node.Stop()
		select {
		case err := <-ended:
			return err
		case <-time.After(look):
		}
	}
}

// RunForever is Wait of the program's own node, until the context ends, or SIGINT or SIGTERM.
func RunForever(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return program.Wait(ctx)
}

// Close stops, and waits for functions that run.
func (node *Node) Close() {
	if node == nil || node.node == nil {
		return
	}
	node.node = C.peal_close(node.node)
	node.release()
}

// Version of the library that is loaded.
func Version() string { return C.GoString(C.peal_version()) }
