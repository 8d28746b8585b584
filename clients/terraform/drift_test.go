package main

import (
	"encoding/json"
	"reflect"
	"testing"
)

var retries = field{name: "retries", shape: object, fields: []field{
	{name: "count", shape: number}, {name: "wait"}, {name: "on", shape: texts}}}

var steps = field{name: "steps", shape: objects, fields: []field{
	{name: "name"}, {name: "wait"}, {name: "each", shape: object, fields: []field{{name: "items", shape: texts}}}}}

var env = field{name: "env", shape: pairs}

var params = field{name: "params", shape: objectMap, fields: []field{{name: "type"}, {name: "default"}}}

// normalOf is the normal form of JSON as the agent has it; "" is nothing.
func normalOf(t *testing.T, f *field, content string) any {
	if content == "" {
		return nil
	}
	all, err := read([]byte(`{"x":` + content + `}`))
	if err != nil {
		t.Fatal(content, err)
	}
	return f.normal(all["x"])
}

func jsonOf(value any) string {
	content, _ := json.Marshal(value)
	return string(content)
}

func TestWhatOthersHaveChanged(t *testing.T) {
	cases := []struct {
		name               string
		field              *field
		written, then, now string // what the configuration wrote, and what the agent made of it, once and now
		want               string
	}{
		{"nothing", &retries, `{"count":3,"wait":"60s"}`, `{"count":3,"wait":"1m"}`, `{"count":3,"wait":"1m"}`, `{"count":3,"wait":"60s"}`},
		{"one of two", &retries, `{"count":3,"wait":"60s"}`, `{"count":3,"wait":"1m"}`, `{"count":5,"wait":"1m"}`, `{"count":5,"wait":"60s"}`},
		{"a word for an object", &retries, `{"count":3,"wait":"60s"}`, `{"count":3,"wait":"1m"}`, `3`, `{"count":3}`},
		{"one text for a list", &retries, `{"count":1,"on":["x"]}`, `{"count":1,"on":"x"}`, `{"count":1,"on":"y"}`, `{"count":1,"on":["y"]}`},
		{"a default written out", &retries, `{"count":3,"wait":"10s"}`, `3`, `4`, `{"count":4,"wait":"10s"}`},
		{"all gone", &retries, `{"count":3}`, `3`, ``, `null`},
		{"all new", &retries, `null`, ``, `{"count":3,"wait":"1m"}`, `{"count":3,"wait":"1m"}`},
		{"a step before others", &steps, `[{"name":"b","wait":"60s"}]`, `[{"name":"b","wait":"1m"}]`,
			`[{"name":"a"},{"name":"b","wait":"1m"}]`, `[{"name":"a"},{"name":"b","wait":"60s"}]`},
		{"a step out of others", &steps, `[{"name":"a"},{"name":"b","wait":"60s"}]`, `[{"name":"a"},{"name":"b","wait":"1m"}]`,
			`[{"name":"b","wait":"1m"}]`, `[{"name":"b","wait":"60s"}]`},
		{"within a step", &steps, `[{"name":"a","wait":"60s"}]`, `[{"name":"a","wait":"1m"}]`,
			`[{"name":"a","wait":"1m","each":["x"]}]`, `[{"name":"a","wait":"60s","each":{"items":["x"]}}]`},
		{"names of a map", &env, `{"A":"1","B":"2"}`, `{"A":"1","B":"2"}`, `{"A":"7","C":3}`, `{"A":"7","C":"3"}`},
		{"a secret that may not be seen", &env, `{"PASSWORD":"x"}`, `{"PASSWORD":"x"}`, `{"PASSWORD":"********"}`, `{"PASSWORD":"x"}`},
		{"within a map", &params, `{"n":{"type":"integer","default":"007"}}`, `{"n":{"type":"integer","default":7}}`,
			`{"n":{"default":7},"m":{}}`, `{"n":{"default":"007"},"m":{}}`},
	}
	for _, c := range cases {
		written := c.field.value(normalOf(t, c.field, c.written))
		if c.written == "null" {
			written = c.field.value(nil)
		}
		got := c.field.drifted(written, normalOf(t, c.field, c.then), normalOf(t, c.field, c.now))
		want := c.field.value(nil)
		if c.want != "null" {
			want = c.field.value(normalOf(t, c.field, c.want))
		}
		if !got.Equal(want) {
			t.Errorf("%s: %s, expected %s", c.name, jsonOf(c.field.json(got, false)), c.want)
		}
	}
}

func TestWhatAPlanTakesOver(t *testing.T) {
	cases := []struct {
		name          string
		field         *field
		config, state string
		wanted, now   string // the normal forms of both
		want          string
	}{
		{"the same", &retries, `{"wait":"60s"}`, `{"wait":"1m"}`, `{"wait":"1m"}`, `{"wait":"1m"}`, `{"wait":"1m"}`},
		{"another value", &retries, `{"wait":"61s"}`, `{"wait":"1m"}`, `{"wait":"1m1s"}`, `{"wait":"1m"}`, `{"wait":"61s"}`},
		{"one of two", &retries, `{"count":4,"wait":"60s"}`, `{"count":3,"wait":"1m"}`, `{"count":4,"wait":"1m"}`,
			`{"count":3,"wait":"1m"}`, `{"count":4,"wait":"1m"}`},
		{"out of the configuration", &retries, `{"count":3}`, `{"count":3,"wait":"10s"}`, `3`, `3`, `{"count":3}`},
		{"another secret", &env, `{"A":"new"}`, `{"A":"old"}`, `{"A":"********"}`, `{"A":"********"}`, `{"A":"new"}`},
		{"a step", &steps, `[{"name":"a","wait":"60s"},{"name":"b"}]`, `[{"name":"a","wait":"1m"},{"name":"c"}]`,
			`[{"name":"a","wait":"1m"},{"name":"b"}]`, `[{"name":"a","wait":"1m"},{"name":"c"}]`, `[{"name":"a","wait":"1m"},{"name":"b"}]`},
	}
	for _, c := range cases {
		got := c.field.settled(c.field.value(normalOf(t, c.field, c.config)), c.field.value(normalOf(t, c.field, c.state)),
			normalOf(t, c.field, c.wanted), normalOf(t, c.field, c.now))
		if want := c.field.value(normalOf(t, c.field, c.want)); !got.Equal(want) {
			t.Errorf("%s: %s, expected %s", c.name, jsonOf(c.field.json(got, false)), c.want)
		}
	}
}

func TestPatchTakesNamesOutOfMaps(t *testing.T) {
	fields := []field{env, params, {name: "http", shape: object, fields: []field{{name: "headers", shape: pairs}}}}
	patch, _ := read([]byte(`{"env":{"A":"1"},"params":{"n":{"type":"number"}},"http":{"headers":{}}}`))
	had, _ := read([]byte(`{"env":{"A":"1","B":"2"},"params":{"m":{}},"http":{"headers":{"X":"1"}}}`))
	clearKeys(fields, patch, had)
	want, _ := read([]byte(`{"env":{"A":"1","B":null},"params":{"n":{"type":"number"},"m":null},"http":{"headers":{"X":null}}}`))
	if !reflect.DeepEqual(patch, want) {
		t.Errorf("%s, expected %s", jsonOf(patch), jsonOf(want))
	}
}
