// The program of the test: see bindings_test.sh.
//
//	app FILE [bad | coordinate | trigger NAME [KEY=VALUE]...]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	peal "peal/bindings/go"
)

func note(what, line string) error {
	file, err := os.OpenFile(os.Args[1]+"."+what, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}

func tick(run *peal.Run) error {
	return note("ticks", fmt.Sprint(run.Tick().Unix()))
}

func greet(run *peal.Run) error {
	run.Progress(50, "words")
	who, _ := run.Param("who")
	if _, has := run.Param("other"); has {
		return errors.New("a parameter that was not given")
	}
	run.Logf("hello %s", who)
	return note("greeted", fmt.Sprint(who, " ", run.Job(), " ", run.Attempt(), " ", run.ID()))
}

func slow(run *peal.Run) error {
	if err := note("slow", run.ID()); err != nil {
		return err
	}
	select {
	case <-run.Context().Done():
	case <-time.After(time.Hour):
	}
	if errors.Is(run.Sleep(time.Hour), peal.ErrLost) && run.Cancelled() {
		run.Logf("told to stop")
	}
	return run.Context().Err()
}

func bad() {
	pass := func(*peal.Run) error { return nil }
	err := peal.Every("bad", "75 * * * *", pass)
	fmt.Println(errors.Is(err, peal.ErrInvalid), err)
	err = peal.Every("tick", "@daily", pass)
	fmt.Println(errors.Is(err, peal.ErrExists), err)
	_, err = peal.Open(peal.Options{Store: "etcd://127.0.0.1:1/x", Timeout: 100 * time.Millisecond})
	fmt.Println(errors.Is(err, peal.ErrUnreachable), err)
	node, err := peal.Open(peal.Options{Log: func(level peal.Level, message string) {}})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	err = node.Remove("nobody")
	fmt.Println(errors.Is(err, peal.ErrNotFound), err)
}

func coordinate() {
	ctx := context.Background()
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	first, err := peal.TryLock("backup", peal.Claim{ID: "one"})
	check(err)
	fmt.Println("held", first.Held(), first.Fence() > 0)
	_, err = peal.TryLock("backup", peal.Claim{})
	fmt.Println("busy", errors.Is(err, peal.ErrBusy), err)
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = peal.Lock(short, "backup", peal.Claim{})
	fmt.Println("over", errors.Is(err, context.DeadlineExceeded))
	fence := first.Fence()
	check(first.Release())
	second, err := peal.Lock(ctx, "backup", peal.Claim{})
	check(err)
	fmt.Println("grows", second.Fence() > fence)
	check(second.Release())
	lead, err := peal.Elect(ctx, "chief", peal.Claim{ID: "one"})
	check(err)
	var node *peal.Node
	who, err := node.WhoLeads("chief")
	fmt.Println("leads", lead.Held(), who, err)
	check(lead.Release())
	_, err = node.WhoLeads("chief")
	fmt.Println("nobody", errors.Is(err, peal.ErrNotFound))
	isOne, one, err := peal.Select("mailer", "one", time.Minute)
	check(err)
	isTwo, two, err := peal.Select("mailer", "two", time.Minute)
	check(err)
	fmt.Println(isOne, one, isTwo, two)
}

func trigger(name string, words []string) {
	params := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		params[key] = value
	}
	node, err := peal.Open(peal.Options{Program: "asker"})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	id, err := node.Trigger(name, params)
	fmt.Println(id, err)
}

func main() {
	for _, err := range []error{
		peal.Every("tick", "* * * * * *", tick),
		peal.Every("greet", "", greet, peal.More("params: {who: {default: nobody}}")),
		peal.Every("fails", "", func(*peal.Run) error { return errors.New("no luck today") }),
		peal.Every("panics", "", func(*peal.Run) error { panic("out of luck") }),
		peal.Every("slow", "", slow, peal.Timeout(time.Hour), peal.OnOverlap(peal.Skip)),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	switch {
	case len(os.Args) == 2:
		if err := peal.RunForever(context.Background()); err != nil {
			log.Fatal(err)
		}
	case os.Args[2] == "bad":
		bad()
	case os.Args[2] == "coordinate":
		coordinate()
	case os.Args[2] == "trigger":
		trigger(os.Args[3], os.Args[4:])
	}
}
