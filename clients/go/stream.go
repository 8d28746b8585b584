package peal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Event is a server-sent event.
type Event struct {
	Event, ID string
	Data      json.RawMessage
}

// ErrStop, returned by the function of a stream, ends the stream without an error.
var ErrStop = errors.New("peal: stop")

const (
	pauseFirst = 500 * time.Millisecond
	pauseLast  = 15 * time.Second
	// The agent sends a comment every 15 to 30 s: what is silent for longer is gone.
	silence = time.Minute
)

// Events calls visit with what happens in the cluster, as it happens: "jobs", "runs", "nodes", "calendars"; no topics
// are all. The first event is "hello". A connection that breaks is made again, and goes on behind the last event; after "reset"
// some were missed, and what is shown should be read anew.
func (c *Client) Events(ctx context.Context, topics []string, visit func(Event) error) error {
	query := url.Values{}
	if len(topics) > 0 {
		query.Set("topics", strings.Join(topics, ","))
	}
	return c.stream(ctx, "/api/v1/events", query, "", visit)
}

// FollowLog calls visit with the output of a run, from the start on and as it comes: events "chunk", and "end" at last,
// with the run; "absent" while its node does not answer.
func (c *Client) FollowLog(ctx context.Context, runID string, offset int64, visit func(Event) error) error {
	query := url.Values{}
	if offset > 0 {
		query.Set("offset", strconv.FormatInt(offset, 10))
	}
	return c.stream(ctx, "/api/v1/runs/"+segment(runID)+"/log/stream", query, "end", visit)
}

// RawLog is the bytes of the output of a run.
func (c *Client) RawLog(ctx context.Context, runID string) ([]byte, error) {
	query := url.Values{"raw": {"true"}}
	return c.callBytes(ctx, &request{method: "GET", path: "/api/v1/runs/" + segment(runID) + "/log", query: query})
}

// RunAndWait runs a job, and waits for the end of the run.
func (c *Client) RunAndWait(ctx context.Context, name string, options *RunJobOptions, headers ...Header) (*Run, error) {
	started, err := c.RunJob(ctx, name, options, headers...)
	if err != nil {
		return nil, err
	}
	if err = c.FollowLog(ctx, started.RunID, 0, func(Event) error { return nil }); err != nil {
		return nil, err
	}
	return c.GetRun(ctx, started.RunID)
}

// visitError is what the function of a stream has returned.
type visitError struct{ error }

func (c *Client) stream(ctx context.Context, path string, query url.Values, end string, visit func(Event) error) error {
	last, pause := "", pauseFirst
	isOver := false
	for !isOver {
		err := c.streamOnce(ctx, path, query, last, func(event Event) error {
			pause = pauseFirst
			if event.ID != "" {
				last = event.ID
			}
			if err := visit(event); err != nil {
				return visitError{err}
			}
			isOver = end != "" && event.Event == end
			if isOver {
				return visitError{ErrStop}
			}
			return nil
		})
		var visited visitError
		if errors.As(err, &visited) {
			if errors.Is(visited.error, ErrStop) {
				return nil
			}
			return visited.error
		}
		var refused *Error
		if errors.As(err, &refused) {
			switch refused.Status {
			case 429, 502, 503, 504:
				if refused.RetryAfter > pause {
					pause = refused.RetryAfter
				}
			default:
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if pause *= 2; pause > pauseLast {
			pause = pauseLast
		}
	}
	return nil
}

func (c *Client) streamOnce(ctx context.Context, path string, query url.Values, last string, visit func(Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.AfterFunc(silence, cancel)
	defer timer.Stop()
	headers := []Header{{"Accept", "text/event-stream"}}
	if last != "" {
		headers = append(headers, Header{"Last-Event-ID", last})
	}
	response, err := c.do(ctx, &request{method: http.MethodGet, path: path, query: query, headers: headers})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	event, data := Event{}, []string{}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		timer.Reset(silence)
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if len(data) > 0 {
				event.Data = json.RawMessage(strings.Join(data, "\n"))
				if err := visit(event); err != nil {
					return err
				}
			}
			event, data = Event{}, nil
		case name == "event":
			event.Event = value
		case name == "id":
			event.ID = value
		case name == "data":
			data = append(data, value)
		}
	}
}
