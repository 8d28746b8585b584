// The work, done by go-co-op/gocron.
package main

import (
	"time"

	"github.com/go-co-op/gocron/v2"

	"peal/bench/peers/work"
)

func main() {
	w := work.Read()
	scheduler, err := gocron.NewScheduler(gocron.WithLocation(time.UTC))
	work.Must(err)
	for i := 0; i < w.Count; i++ { // its one-time jobs are no faster at one instant
		_, err := scheduler.NewJob(gocron.CronJob(w.Cron(), true), gocron.NewTask(w.Run))
		work.Must(err)
	}
	scheduler.Start()
	w.Wait()
}
