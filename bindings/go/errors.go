package peal

// #include <peal.h>
import "C"

import "runtime"

// Kind is what went wrong; errors.Is(err, peal.ErrExists) finds it.
type Kind int

const (
	ErrInvalid     Kind = C.PEAL_E_INVALID // an argument is wrong; the words say which, and where
	ErrNoMemory    Kind = C.PEAL_E_NOMEM
	ErrExists      Kind = C.PEAL_E_EXISTS // the name is taken: by another function, program or job
	ErrNotFound    Kind = C.PEAL_E_NOT_FOUND
	ErrUnreachable Kind = C.PEAL_E_UNREACHABLE // the store has not answered in time
	ErrBusy        Kind = C.PEAL_E_BUSY        // somebody else has it
	ErrLost        Kind = C.PEAL_E_LOST        // this process had it, and has it no longer
	ErrForked      Kind = C.PEAL_E_FORKED      // the node belongs to the parent process
	ErrStopped     Kind = C.PEAL_E_STOPPED     // the node was stopped
	ErrVersion     Kind = C.PEAL_E_VERSION     // the store was written by a newer peal
	ErrIO          Kind = C.PEAL_E_IO          // disk, permission, corrupt file
)

var words = map[Kind]string{
	ErrInvalid: "invalid", ErrNoMemory: "out of memory", ErrExists: "exists",
	ErrNotFound: "not found", ErrUnreachable: "unreachable", ErrBusy: "busy", ErrLost: "lost",
	ErrForked: "forked", ErrStopped: "stopped", ErrVersion: "written by a newer peal",
	ErrIO: "input or output failed",
}

func (kind Kind) Error() string { return "peal: " + words[kind] }

// Error is what the library has refused, or failed at.
type Error struct {
	Kind Kind
	Why  string // what, where, and a next step
}

func (err *Error) Error() string { return "peal: " + err.Why }
func (err *Error) Unwrap() error { return err.Kind }

// try calls into C; its words are those of the thread that has called.
func try(call func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := call(); code < 0 {
		return &Error{Kind(code), C.GoString(C.peal_why())}
	}
	return nil
}
