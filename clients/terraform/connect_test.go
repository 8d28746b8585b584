package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddressesAndTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("  from-file \nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PEAL_URL", "PEAL_TOKEN", "PEAL_TOKEN_FILE", "PEAL_CA"} {
		t.Setenv(name, "")
	}
	t.Setenv("PEAL_DATA", "/nowhere")
	cases := []struct {
		name            string
		settings        settings
		variables       string // NAME=value, with commas
		url, token, why string
	}{
		{name: "the socket", url: "http://peal"},
		{name: "another socket", settings: settings{address: "unix:///x/api.sock"}, url: "http://peal"},
		{name: "an address", settings: settings{address: "https://h:1", token: "t"}, url: "https://h:1", token: "t"},
		{name: "the environment", variables: "PEAL_URL=http://127.0.0.1:7325,PEAL_TOKEN=t", url: "http://127.0.0.1:7325", token: "t"},
		{name: "the configuration goes first", settings: settings{address: "https://h", tokenFile: file},
			variables: "PEAL_URL=https://other,PEAL_TOKEN=t", url: "https://h", token: "from-file"},
		{name: "in the clear", settings: settings{address: "http://h", token: "t"}, why: "would carry the token in the clear"},
		{name: "no address", settings: settings{address: "h:7325"}, why: "is not the address of an agent"},
		{name: "no file", settings: settings{tokenFile: "/nowhere"}, why: "no such file"},
		{name: "no certificate", settings: settings{address: "https://h", caFile: file}, why: "has no certificate"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, variable := range strings.FieldsFunc(c.variables, func(r rune) bool { return r == ',' }) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			client, err := connect(c.settings)
			switch {
			case c.why != "":
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%v, expected %q", err, c.why)
				}
			case err != nil:
				t.Error(err)
			case client.URL != c.url || client.Token != c.token:
				t.Errorf("%s %s, expected %s %s", client.URL, client.Token, c.url, c.token)
			}
		})
	}
}

// An agent that is too busy is asked again, with the same body.
func TestPatience(t *testing.T) {
	bodies := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if bodies = append(bodies, string(body)); len(bodies) < 3 {
			answer.Header().Set("Retry-After", "0")
			answer.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = answer.Write([]byte(`{"name":"x"}`))
	}))
	defer server.Close()
	client, err := connect(settings{address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := call(context.Background(), client, http.MethodPut, "/api/v1/jobs/x", nil, map[string]any{"a": "b"})
	if err != nil || answer["name"] != "x" {
		t.Fatal(answer, err)
	}
	if got := strings.Join(bodies, " "); got != `{"a":"b"} {"a":"b"} {"a":"b"}` {
		t.Error(got)
	}
}
