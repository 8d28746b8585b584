package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	peal "peal/clients/go"
)

// settings are where the agent is, and who asks; empty ones are taken from the environment, as by the command line.
type settings struct {
	address, token, tokenFile, caFile string
}

const (
	unixScheme = "unix:"
	answerMax  = time.Minute // for one answer
	busyMax    = 20          // so often a request waits where the agent says that it is too busy
	waitMax    = 30 * time.Second
)

func or(text, variable string) string {
	if text != "" {
		return text
	}
	return os.Getenv(variable)
}

// connect makes the client; nothing is sent yet.
func connect(s settings) (*peal.Client, error) {
	token, err := readToken(s)
	if err != nil {
		return nil, err
	}
	address := or(s.address, "PEAL_URL")
	if address == "" {
		address = unixScheme + peal.DefaultSocket()
	}
	client, err := clientOf(address, or(s.caFile, "PEAL_CA"), token)
	if err != nil {
		return nil, err
	}
	client.Token = token
	client.HTTP = &http.Client{Transport: &patient{next: client.HTTP.Transport}, Timeout: answerMax}
	return client, nil
}

// readToken takes the token of the configuration before that of the environment; of a file, its first line.
func readToken(s settings) (string, error) {
	if s.token != "" {
		return s.token, nil
	}
	path := or(s.tokenFile, "PEAL_TOKEN_FILE")
	if path == "" {
		return os.Getenv("PEAL_TOKEN"), nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(strings.SplitN(string(content), "\n", 2)[0])
	if token == "" {
		return "", fmt.Errorf("%s: its first line has no token", path)
	}
	return token, nil
}

func clientOf(address, caFile, token string) (*peal.Client, error) {
	if path := strings.TrimPrefix(address, unixScheme); path != address {
		return peal.NewUnix("/" + strings.TrimLeft(path, "/")), nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("%q is not the address of an agent; expected one like https://host:7325 or unix:/var/lib/peal/api.sock", address)
	}
	if parsed.Scheme == "http" && token != "" && !isNear(parsed.Hostname()) {
		return nil, fmt.Errorf("%s would carry the token in the clear; use https://", address)
	}
	client := &peal.Client{URL: address, HTTP: &http.Client{Transport: http.DefaultTransport}}
	if caFile == "" {
		return client, nil
	}
	transport, err := peal.Trusting(caFile)
	if err != nil {
		return nil, err
	}
	client.HTTP = &http.Client{Transport: transport}
	return client, nil
}

func isNear(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// patient waits, where the agent answers 429, for as long as it says: Terraform asks for many things at once.
type patient struct{ next http.RoundTripper }

func (p *patient) RoundTrip(request *http.Request) (*http.Response, error) {
	for tries := 1; ; tries++ {
		response, err := p.next.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusTooManyRequests || tries == busyMax {
			return response, err
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		response.Body.Close()
		wait := max(time.Duration(seconds)*time.Second, 100*time.Millisecond)
		if wait > waitMax {
			return nil, fmt.Errorf("the agent refuses requests for %s (429)", wait)
		}
		select {
		case <-request.Context().Done():
			return nil, request.Context().Err()
		case <-time.After(wait):
		}
		if request.Body != nil {
			if request.GetBody == nil {
				return nil, errors.New("the agent is too busy (429)")
			}
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// addressOf is the address for people.
func addressOf(client *peal.Client) string {
	if client.URL == "http://peal" {
		return "this machine's socket"
	}
	return client.URL
}
