// The work, done by go-co-op/gocron.
package main

import (
	"time"

	"github.com/go-co-op/gocron/v2"

	"peal/bench/lib/work"
)

func main() {
	w := work.Read()
	scheduler, err := gocron.NewScheduler(gocron.WithLocation(time.UTC))
	work.Must(err)
	for i := 0; i < w.Count; i++ {
		_, err := scheduler.NewJob(gocron.CronJob(w.Cron(i), true), gocron.NewTask(work.Note))
		work.Must(err)
	}
	scheduler.Start()
	w.Wait()
}
