// Package peal is the HTTP API of peal: see README.md, and docs/API.md for what each call does. It needs
// nothing but Go's own packages.
package peal

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Client asks one agent, or what is in front of several. It may be used by many goroutines.
type Client struct {
	// URL is like "https://peal.example.com:7325".
	URL string
	// Token is what `peal token create` prints; on the socket none is needed.
	Token string
	// HTTP makes the requests; nil: http.DefaultClient. It should have no Timeout: streams have no end.
	HTTP *http.Client
}

// NewUnix is a client of the agent at this socket.
func NewUnix(path string) *Client {
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", path)
	}}
	return &Client{URL: "http://peal", HTTP: &http.Client{Transport: transport}}
}

// DefaultSocket is that of an agent of this user with the default data folder, or of $PEAL_DATA.
func DefaultSocket() string {
	data := os.Getenv("PEAL_DATA")
	if data == "" && os.Geteuid() == 0 {
		data = "/var/lib/peal"
	} else if data == "" {
		state := os.Getenv("XDG_STATE_HOME")
		if state == "" {
			state = filepath.Join(os.Getenv("HOME"), ".local/state")
		}
		data = filepath.Join(state, "peal")
	}
	return filepath.Join(data, "api.sock")
}

// NewFromEnvironment is a client by $PEAL_URL, $PEAL_TOKEN and $PEAL_CA, else of the socket of this machine's agent.
func NewFromEnvironment() (*Client, error) {
	address := os.Getenv("PEAL_URL")
	if address == "" {
		return NewUnix(DefaultSocket()), nil
	}
	client := &Client{URL: address, Token: os.Getenv("PEAL_TOKEN")}
	if file := os.Getenv("PEAL_CA"); file != "" {
		transport, err := Trusting(file)
		if err != nil {
			return nil, err
		}
		client.HTTP = &http.Client{Transport: transport}
	}
	return client, nil
}

// Trusting is a transport to agents whose certificates the authorities in this file, in PEM, have signed.
func Trusting(file string) (*http.Transport, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("peal: %s has no certificate", file)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// Header is a header of one request.
type Header struct{ Name, Value string }

// IfMatch lets a change fail, with status 412, unless this is the revision that is there.
func IfMatch(revision int64) Header {
	return Header{"If-Match", `"` + strconv.FormatInt(revision, 10) + `"`}
}

// IdempotencyKey makes a POST one that can be repeated.
func IdempotencyKey(key string) Header { return Header{"Idempotency-Key", key} }

// Error is a problem (RFC 9457): the agent has refused the request.
type Error struct {
	Problem
	// RetryAfter is when the same request may succeed; 0: it does not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("peal: %s (%d)", e.Detail, e.Status) }

// StatusOf is the status of an Error, 0 of any other.
func StatusOf(err error) int64 {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

type request struct {
	method, path, contentType string
	query                     url.Values
	body                      any
	headers                   []Header
}

// add sends a parameter, unless it is its type's way to say nothing.
func (r *request) add(name string, value any) {
	text := ""
	switch v := value.(type) {
	case string:
		text = v
	case *bool:
		if v != nil {
			text = strconv.FormatBool(*v)
		}
	case *int64:
		if v != nil {
			text = strconv.FormatInt(*v, 10)
		}
	case *float64:
		if v != nil {
			text = strconv.FormatFloat(*v, 'g', -1, 64)
		}
	case []string:
		text = strings.Join(v, ",")
	case nil:
	default:
		text = fmt.Sprint(v)
	}
	if text == "" {
		return
	}
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set(name, text)
}

func segment(name string) string { return url.PathEscape(name) }

func (c *Client) do(ctx context.Context, r *request) (*http.Response, error) {
	target := strings.TrimRight(c.URL, "/") + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for _, header := range r.headers {
		req.Header.Set(header.Name, header.Value)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 400 {
		defer response.Body.Close()
		return nil, errorOf(response)
	}
	return response, nil
}

func errorOf(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	refused := &Error{}
	if json.Unmarshal(text, &refused.Problem) != nil || refused.Status == 0 {
		refused.Problem = Problem{Status: int64(response.StatusCode), Detail: strings.TrimSpace(string(text))}
	}
	if after, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(after) * time.Second
	}
	return refused
}

func (c *Client) callBytes(ctx context.Context, r *request) ([]byte, error) {
	response, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

func (c *Client) callText(ctx context.Context, r *request) (string, error) {
	text, err := c.callBytes(ctx, r)
	return string(text), err
}

func (c *Client) call(ctx context.Context, r *request, answer any) error {
	text, err := c.callBytes(ctx, r)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// Call makes a request for which there is no method here, or whose JSON is to be seen as it is: path is like
// "/api/v1/jobs/db%2Fbackup", with url.PathEscape for names; body is sent as JSON unless it is nil, and answer takes
// what comes back, as json.Unmarshal does.
func (c *Client) Call(ctx context.Context, method, path string, query url.Values, body, answer any, headers ...Header) error {
	return c.call(ctx, &request{method: method, path: path, query: query, body: body, headers: headers}, answer)
}
