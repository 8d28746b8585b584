// The work, done by robfig/cron.
package main

import (
	"time"

	"github.com/robfig/cron/v3"

	"peal/bench/lib/work"
)

func main() {
	w := work.Read()
	scheduler := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC))
	for i := 0; i < w.Count; i++ {
		_, err := scheduler.AddFunc(w.Cron(i), work.Note)
		work.Must(err)
	}
	scheduler.Start()
	w.Wait()
}
