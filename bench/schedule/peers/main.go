// Nanoseconds per parse and per next of robfig/cron or gorhill/cronexpr, for the same cases and in
// the same way as schedule_bench.c.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorhill/cronexpr"
	"github.com/robfig/cron"
)

const (
	rounds   = 9
	round    = 10 * time.Millisecond
	instants = 1024
)

type nexter interface{ Next(time.Time) time.Time }

type peer func(text string) (nexter, error)

var peers = map[string]peer{
	"robfig": func(text string) (nexter, error) {
		return robfigParser.Parse(text)
	},
	"cronexpr": func(text string) (nexter, error) {
		if len(strings.Fields(text)) == 6 {
			text += " *" // its sixth field would be the year
		}
		return cronexpr.Parse(text)
	},
}

var robfigParser = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom |
	cron.Month | cron.Dow | cron.Descriptor)

// Keeps the compiler from dropping a call.
var sink time.Time

// A round is long enough for the clock, and the shortest round counts.
func measure(run func(calls int)) float64 {
	best := 1e18
	for i, calls := 0, 1; i < rounds; {
		start := time.Now()
		run(calls)
		took := time.Since(start)
		if took < round {
			calls *= 2
			continue
		}
		best = min(best, float64(took.Nanoseconds())/float64(calls))
		i++
	}
	return best
}

func min(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func drawInstants(from, to time.Time) []time.Time {
	state := uint32(1)
	list := make([]time.Time, instants)
	span := float64(to.Unix() - from.Unix())
	for i := range list {
		state = state*1664525 + 1013904223
		list[i] = time.Unix(from.Unix()+int64(float64(state)/4294967296.0*span), 0).In(from.Location())
	}
	return list
}

func runCase(parse peer, line string) (result string) {
	defer func() { // cronexpr panics on some of what it does not know
		if recover() != nil {
			result = "unsupported"
		}
	}()
	fields := strings.Split(line, "\t")
	zone, err := time.LoadLocation(fields[0])
	if err != nil {
		return "unsupported"
	}
	year := func(text string) time.Time {
		number, _ := strconv.Atoi(text)
		return time.Date(number, 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
	}
	from, to, text := year(fields[1]), year(fields[2]), fields[3]
	schedule, err := parse(text)
	if err != nil {
		return "unsupported"
	}
	list := drawInstants(from, to)
	parsing := measure(func(calls int) {
		for i := 0; i < calls; i++ {
			_, _ = parse(text)
		}
	})
	sequential := measure(func(calls int) {
		at := from
		for i := 0; i < calls; i++ {
			at = schedule.Next(at)
			if at.IsZero() || !at.Before(to) {
				at = from
			}
		}
		sink = at
	})
	random := measure(func(calls int) {
		for i := 0; i < calls; i++ {
			sink = schedule.Next(list[i%instants])
		}
	})
	answer := int64(-1)
	if at := schedule.Next(from); !at.IsZero() {
		answer = at.Unix()
	}
	return fmt.Sprintf("%.1f\t%.1f\t%.1f\t%d", parsing, sequential, random, answer)
}

func main() {
	parse := peers[os.Args[1]]
	file, err := os.Open(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "#") {
			fmt.Println(runCase(parse, lines.Text()))
		}
	}
}
