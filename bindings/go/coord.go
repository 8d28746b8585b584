package peal

// #include <stdlib.h>
// #include <peal.h>
import "C"

import (
	"context"
	"time"
	"unsafe"
)

// Claim says more about a lock or a candidate than its name.
type Claim struct {
	ID     string        // for others to see; "": HOST-PROCESS
	TTL    time.Duration // etcd: how long after this process it is free at the latest; 0: 10 s
	Margin time.Duration // etcd: how long before that it is taken for lost; 0: 3/10 of it
}

// Held is a lock that this process has, or an election that it leads. docs/COORDINATION.md has the
// promises.
type Held struct {
	held *C.peal_held
}

type take func(node *C.peal_node, held **C.peal_held, claim *C.peal_claim) C.int

func lock(node *C.peal_node, held **C.peal_held, claim *C.peal_claim) C.int {
	return C.peal_lock_sized(node, held, claim, C.sizeof_peal_claim)
}

func elect(node *C.peal_node, held **C.peal_held, claim *C.peal_claim) C.int {
	return C.peal_elect_sized(node, held, claim, C.sizeof_peal_claim)
}

func (node *Node) take(name string, claim Claim, wait C.int64_t, call take) (*Held, error) {
	var memory arena
	defer memory.free()
	inC := C.peal_claim{
		name:      memory.text(name),
		wait_ms:   wait,
		id:        memory.text(claim.ID),
		ttl_ms:    ms(claim.TTL),
		margin_ms: ms(claim.Margin),
	}
	held := (**C.peal_held)(C.calloc(1, C.size_t(unsafe.Sizeof(uintptr(0)))))
	defer C.free(unsafe.Pointer(held))
	err := try(func() C.int { return call(node.orProgram().node, held, &inC) })
	if err != nil {
		return nil, err
	}
	return &Held{*held}, nil
}

// wait gives up what comes after the context has ended.
func (node *Node) wait(ctx context.Context, name string, claim Claim, call take) (*Held, error) {
	type answer struct {
		held *Held
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		held, err := node.take(name, claim, -1, call)
		answers <- answer{held, err}
	}()
	select {
	case got := <-answers:
		return got.held, got.err
	case <-ctx.Done():
		go func() {
			if got := <-answers; got.held != nil {
				_ = got.held.Release()
			}
		}()
		return nil, ctx.Err()
	}
}

// TryLock takes a lock if it is free; else ErrBusy, whose words name the holder.
func (node *Node) TryLock(name string, claim Claim) (*Held, error) {
	return node.take(name, claim, 0, lock)
}

// Lock waits for it until the context ends. Waiters are served in order of arrival.
func (node *Node) Lock(ctx context.Context, name string, claim Claim) (*Held, error) {
	return node.wait(ctx, name, claim, lock)
}

// Elect becomes a candidate, and returns when it leads; Release resigns.
func (node *Node) Elect(ctx context.Context, name string, claim Claim) (*Held, error) {
	return node.wait(ctx, name, claim, elect)
}

// Held tells whether it is still this process's, by the clock.
func (held *Held) Held() bool { return bool(C.peal_is_held(held.held)) }

// Fence is larger than that of everybody who held this name before.
func (held *Held) Fence() int64 { return int64(C.peal_fence(held.held)) }

// Release gives it up; ErrLost if it was not held all the time.
func (held *Held) Release() error {
	return try(func() C.int { return C.peal_release(held.held) })
}

// WhoLeads is the id of who leads at this moment; ErrNotFound: nobody.
func (node *Node) WhoLeads(name string) (string, error) {
	var id [C.PEAL_ID_SIZE]C.char
	err := node.named(name, func(node *C.peal_node, name *C.char) C.int {
		return C.peal_who_leads(node, name, &id[0])
	})
	return C.GoString(&id[0]), err
}

// Select has all ask, one chosen for the time `hold`, and the others learn who: whether it is this id
// ("": HOST-PROCESS), and whose it is.
func (node *Node) Select(service, id string, hold time.Duration) (bool, string, error) {
	var memory arena
	defer memory.free()
	var chosen [C.PEAL_ID_SIZE]C.char
	var isSelf C.int
	err := node.named(service, func(node *C.peal_node, service *C.char) C.int {
		isSelf = C.peal_select(node, service, memory.text(id), ms(hold), &chosen[0])
		return isSelf
	})
	return isSelf == 1, C.GoString(&chosen[0]), err
}

// TryLock of the program's own node.
func TryLock(name string, claim Claim) (*Held, error) { return program.TryLock(name, claim) }

// Lock of the program's own node.
func Lock(ctx context.Context, name string, claim Claim) (*Held, error) {
	return program.Lock(ctx, name, claim)
}

// Elect of the program's own node.
func Elect(ctx context.Context, name string, claim Claim) (*Held, error) {
	return program.Elect(ctx, name, claim)
}

// Select of the program's own node.
func Select(service, id string, hold time.Duration) (bool, string, error) {
	return program.Select(service, id, hold)
}
