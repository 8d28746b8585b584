// Package work is what the contenders are given to do: so many functions, due at each second or all
// at one instant, that note when they were called.
package work

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// Work is read from the command line: COUNT each|spread|UNIX_S FILE
type Work struct {
	Count  int
	At     time.Time // zero: at each second
	spread bool
	file   string
}

const room = 1 << 26

var (
	times = make([]int64, room)
	count int64
)

// Must ends the program, and so the measurement, when something fails.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
		os.Exit(1)
	}
}

// Read takes the work from the command line.
func Read() *Work {
	if len(os.Args) != 4 {
		Must(fmt.Errorf("usage: COUNT each|spread|UNIX_S FILE"))
	}
	w := &Work{file: os.Args[3], spread: os.Args[2] == "spread"}
	var err error
	w.Count, err = strconv.Atoi(os.Args[1])
	Must(err)
	if os.Args[2] != "each" && !w.spread {
		at, err := strconv.ParseInt(os.Args[2], 10, 64)
		Must(err)
		w.At = time.Unix(at, 0).UTC()
	}
	return w
}

// Cron is when the function of this number is due, in UTC, with seconds first.
func (w *Work) Cron(i int) string {
	if w.spread {
		return fmt.Sprintf("%d * * * * *", i%60)
	}
	if w.At.IsZero() {
		return "* * * * * *"
	}
	return fmt.Sprintf("%d %d %d %d %d *", w.At.Second(), w.At.Minute(), w.At.Hour(), w.At.Day(), w.At.Month())
}

// Note is the function.
func Note() {
	i := atomic.AddInt64(&count, 1) - 1
	if i < room {
		times[i] = time.Now().UnixNano()
	}
}

// Wait says that all functions are scheduled, waits for the end of the measurement, and writes the times.
func (w *Work) Wait() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Println("ready 0 0")
	<-end
	all := atomic.LoadInt64(&count)
	if all > room {
		all = room
	}
	out, err := os.Create(w.file)
	Must(err)
	buffer := bufio.NewWriter(out)
	Must(binary.Write(buffer, binary.LittleEndian, times[:all]))
	Must(buffer.Flush())
	os.Exit(0) // whatever still waits for its call
}
