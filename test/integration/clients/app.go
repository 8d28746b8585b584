// The same as app.py.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	peal "peal/clients/go"
)

var ctx = context.Background()

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func title(is bool) string {
	if is {
		return "True"
	}
	return "False"
}

func watch(client *peal.Client) error {
	return client.Events(ctx, []string{"runs"}, func(event peal.Event) error {
		var run struct{ Job, State string }
		if event.Event == "hello" || event.Event == "reset" {
			fmt.Println("listening")
		}
		if event.Event != "run" {
			return nil
		}
		if err := json.Unmarshal(event.Data, &run); err != nil || run.State != "ok" {
			return err
		}
		fmt.Println("event", run.Job, "ok")
		if run.Job == "last" {
			return peal.ErrStop
		}
		return nil
	})
}

func command(words ...any) peal.Definition {
	return peal.Definition{Schedule: "@manual", Command: words}
}

func names(client *peal.Client, options *peal.ListJobsOptions) []string {
	found := []string{}
	must(client.EachJob(ctx, options, func(job peal.Job) error {
		found = append(found, job.Name)
		return nil
	}))
	return found
}

func try(client *peal.Client, trace string) {
	job, err := client.PutJob(ctx, "team/one", command("echo", "eins", "zwei"), nil)
	must(err)
	next := "None"
	if job.Status.NextAt != nil {
		next = *job.Status.NextAt
	}
	fmt.Println("made", job.Name, job.Revision, next)
	_, err = client.PatchJob(ctx, "team/one", peal.Definition{Notes: "ä\n"}, nil, peal.IfMatch(job.Revision))
	must(err)
	_, err = client.PatchJob(ctx, "team/one", peal.Definition{Notes: "x"}, nil, peal.IfMatch(job.Revision))
	fmt.Println("late", peal.StatusOf(err))
	bad := command("true")
	bad.Schedule = "0 25 * * *"
	_, err = client.PutJob(ctx, "team/bad", bad, nil)
	var wrong *peal.Error
	if !errors.As(err, &wrong) {
		log.Fatal(err)
	}
	fmt.Println("wrong", wrong.Status, wrong.Errors[0].Pointer, wrong.Errors[0].Column, title(wrong.RequestID != ""))
	_, err = client.GetJob(ctx, "no/such")
	fmt.Println("unknown", peal.StatusOf(err))

	limit := int64(3)
	for number := 0; number < 7; number++ {
		_, err = client.PutJob(ctx, fmt.Sprintf("page/%d", number), command("true"), nil)
		must(err)
	}
	pages := names(client, &peal.ListJobsOptions{Folder: "page", Limit: &limit})
	fmt.Println("pages", strings.Join(pages, " "))

	headers := []peal.Header{peal.IdempotencyKey("key-1"), {Name: "traceparent", Value: trace}}
	first, err := client.RunJob(ctx, "team/one", nil, headers...)
	must(err)
	again, err := client.RunJob(ctx, "team/one", nil, headers...)
	must(err)
	fmt.Println("once", title(first.RunID == again.RunID))
	must(client.FollowLog(ctx, first.RunID, 0, func(event peal.Event) error {
		var chunk struct{ Stream, Text string }
		if event.Event != "chunk" {
			return nil
		}
		err := json.Unmarshal(event.Data, &chunk)
		fmt.Println("chunk", chunk.Stream, strings.TrimSpace(chunk.Text))
		return err
	}))
	run, err := client.GetRun(ctx, first.RunID)
	must(err)
	fmt.Println("run", run.State, *run.ExitCode, title(*run.Traceparent == trace))
	raw, err := client.RawLog(ctx, first.RunID)
	must(err)
	fmt.Println("raw", len(raw))

	_, err = client.PutJob(ctx, "slow", command("sleep", "600"), nil)
	must(err)
	slow, err := client.RunJob(ctx, "slow", nil)
	must(err)
	for run.State = ""; run.State != "running"; {
		run, err = client.GetRun(ctx, slow.RunID)
		must(err)
	}
	_, err = client.KillRun(ctx, slow.RunID)
	must(err)
	must(client.FollowLog(ctx, slow.RunID, 0, func(peal.Event) error { return nil }))
	run, err = client.GetRun(ctx, slow.RunID)
	must(err)
	fmt.Println("killed", run.State)
	metrics, err := client.Metrics(ctx, nil)
	must(err)
	fmt.Println("metrics", title(strings.Contains(metrics, "peal_build_info")))
	_, err = client.BatchJobs(ctx, &peal.BatchJobsOptions{Delete: pages})
	must(err)
	fmt.Println("batch", names(client, &peal.ListJobsOptions{Folder: "page"}), title(true))
}

func main() {
	client := peal.NewUnix(os.Args[3])
	if len(os.Args) > 4 {
		must(watch(client))
		return
	}
	remote := &peal.Client{URL: os.Args[1], Token: os.Args[2]}
	me, err := remote.Me(ctx)
	must(err)
	here, err := client.Me(ctx)
	must(err)
	fmt.Println("me", me.Name, here.Kind)
	_, err = (&peal.Client{URL: os.Args[1]}).Me(ctx)
	fmt.Println("without", peal.StatusOf(err))
	try(client, os.Getenv("TRACE"))
}
