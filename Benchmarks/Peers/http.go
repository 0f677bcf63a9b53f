// Go's net/http as an expert drives it: one scheduler thread, one transport that keeps as many connections as there are
// callers, bodies drained so that connections are reused.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

type load struct {
	client         *http.Client
	url            string
	length, upload int64
	// Where what is sent is read from, and what comes is written to, if anywhere.
	file, output string
	// What is made of values beside sending and receiving bytes: "json", "timed", "form", "multipart" or
	// nothing.
	job string
	// How many records a JSON body holds.
	records int
	// Whether each response's connection should have been resumed; nil when either will do.
	resumed *bool
}

// zeros is a body without end, and without a cost of its own.
type zeros struct{}

func (zeros) Read(into []byte) (int, error) { return len(into), nil }

type record struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Score    float64  `json:"score"`
	IsActive bool     `json:"isActive"`
	Tags     []string `json:"tags"`
	Address  struct {
		Street string `json:"street"`
		City   string `json:"city"`
		Zip    int    `json:"zip"`
	} `json:"address"`
}

func (load load) decode(body []byte) error {
	var records []record
	if err := json.Unmarshal(body, &records); err != nil {
		return err
	}
	if len(records) != load.records {
		return fmt.Errorf("%d records", len(records))
	}
	return nil
}

// get reads a body whole.
func (load load) get() ([]byte, error) {
	response, err := load.client.Get(load.url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	// Told how much is to come, as an expert would.
	body := make([]byte, 0, response.ContentLength+bytes.MinRead)
	buffer := bytes.NewBuffer(body)
	if _, err := buffer.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode != 200 || int64(buffer.Len()) != load.length {
		return nil, fmt.Errorf("status %d, %d bytes", response.StatusCode, buffer.Len())
	}
	return buffer.Bytes(), nil
}

func (load load) post(contentType string, length int64, body io.Reader) error {
	request, err := http.NewRequest("POST", load.url, body)
	if err != nil {
		return err
	}
	request.ContentLength = length
	request.Header.Set("Content-Type", contentType)
	response, err := load.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	count, err := io.Copy(io.Discard, response.Body)
	if err == nil && (response.StatusCode != 200 || count != load.length) {
		err = fmt.Errorf("status %d, %d bytes", response.StatusCode, count)
	}
	return err
}

func (load load) postForm() error {
	form := url.Values{
		"grant_type": {"client_credentials"}, "scope": {"read", "write"}, "name": {"Ada Lovelace"},
		"email": {"ada@example.com"}, "city": {"Zürich"}, "street": {"Rämistrasse 101/3"},
		"note": {"50% off & more = fun?"}, "token": {"dGhpcyBpcyBhIHRva2Vu+/=="}, "page": {"12"},
	}.Encode()
	return load.post("application/x-www-form-urlencoded", int64(len(form)), strings.NewReader(form))
}

// postParts has what is before and after the file made by mime/multipart, so that the length is known.
func (load load) postParts() error {
	file, err := os.Open(load.file)
	if err != nil {
		return err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return err
	}
	var around bytes.Buffer
	writer := multipart.NewWriter(&around)
	writer.WriteField("title", "Waders")
	writer.WriteField("album", "7")
	header := make(textproto.MIMEHeader)
	header.Set("Content-Disposition", `form-data; name="photo"; filename="waders.jpg"`)
	header.Set("Content-Type", "image/jpeg")
	if _, err := writer.CreatePart(header); err != nil {
		return err
	}
	head := around.Len()
	if err := writer.Close(); err != nil {
		return err
	}
	whole := around.Bytes()
	body := io.MultiReader(bytes.NewReader(whole[:head]), file, bytes.NewReader(whole[head:]))
	return load.post(writer.FormDataContentType(), int64(len(whole))+status.Size(), body)
}

func (load load) send() error {
	switch load.job {
	case "json":
		body, err := load.get()
		if err != nil {
			return err
		}
		return load.decode(body)
	case "timed":
		body, err := load.get()
		if err != nil {
			return err
		}
		// The decoder stays on one thread, and so does the clock.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		start := threadTime()
		err = load.decode(body)
		decoderTime.Add(threadTime() - start)
		return err
	case "form":
		return load.postForm()
	case "multipart":
		return load.postParts()
	}
	request, err := http.NewRequest("GET", load.url, nil)
	if err != nil {
		return err
	}
	if load.upload > 0 {
		request.Method, request.ContentLength = "PUT", load.upload
		request.Body = io.NopCloser(io.LimitReader(zeros{}, load.upload))
		if load.file != "" {
			file, err := os.Open(load.file)
			if err != nil {
				return err
			}
			request.Body = file
		}
	}
	response, err := load.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	length, err := load.keep(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != 200 || length != load.length {
		return fmt.Errorf("status %d, %d bytes", response.StatusCode, length)
	}
	if load.resumed != nil && response.TLS.DidResume != *load.resumed {
		return fmt.Errorf("resumed: %t", response.TLS.DidResume)
	}
	return nil
}

// keep writes a body where it should go, and says how long it was.
func (load load) keep(body io.Reader) (int64, error) {
	if load.output == "" {
		return io.Copy(io.Discard, body)
	}
	file, err := os.Create(load.output)
	if err != nil {
		return 0, err
	}
	length, err := io.Copy(file, body)
	if err != nil {
		return 0, err
	}
	return length, file.Close()
}

// bearer adds a token to each request, as golang.org/x/oauth2 does: a RoundTripper must not change what it is given.
type bearer struct{ base http.RoundTripper }

func (bearer bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	own := *request
	own.Header = request.Header.Clone()
	own.Header.Set("Authorization", "Bearer mF_9.B5f-4.1JqM.SlAV32hdQlS6p6UW")
	return bearer.base.RoundTrip(&own)
}

// equip adds what most clients have. The server answers `/real` only if it gets this token and the first two cookies.
func equip(client *http.Client, address string) {
	at, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err)
	}
	jar.SetCookies(at, []*http.Cookie{
		{Name: "session", Value: "6f1ed002ab5595859014ebf0951522d9", Path: "/"}, {Name: "theme", Value: "dark", Path: "/"},
		{Name: "basket", Value: "3", Path: "/shop"},
	})
	client.Jar, client.Transport = jar, bearer{client.Transport}
}

// decoderTime is what the decoder has taken of the processor's time, in nanoseconds.
var decoderTime atomic.Int64

func threadTime() int64 {
	var time syscall.Timespec
	if _, _, code := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&time)), 0); code != 0 {
		panic(code)
	}
	return time.Nano()
}

func main() {
	host := flag.String("host", "127.0.0.1", "")
	port := flag.Int("port", 80, "")
	path := flag.String("path", "/1k", "")
	concurrency := flag.Int("concurrency", 1, "")
	requests := flag.Int("requests", 1000, "")
	warmup := flag.Int("warmup", 100, "")
	fresh := flag.Int("fresh", 0, "")
	length := flag.Int64("length", 1024, "")
	upload := flag.Int64("upload", 0, "")
	ca := flag.String("ca", "", "")
	resumed := flag.Int("resumed", 0, "")
	file := flag.String("file", "", "")
	output := flag.String("output", "", "")
	job := flag.String("job", "", "")
	real := flag.Int("real", 0, "")
	records := flag.Int("records", 0, "")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	transport := &http.Transport{
		MaxIdleConns: *concurrency, MaxIdleConnsPerHost: *concurrency, MaxConnsPerHost: *concurrency,
		DisableCompression: true, DisableKeepAlives: *fresh != 0,
	}
	scheme := "http"
	if *ca != "" {
		scheme = "https"
		transport.TLSClientConfig = trusting(*ca, *resumed != 0)
	}
	address := fmt.Sprintf("%s://%s:%d%s", scheme, *host, *port, *path)
	load := load{
		client: &http.Client{Transport: transport}, url: address, length: *length, upload: *upload,
		file: *file, output: *output, job: *job, records: *records,
	}
	if *real != 0 {
		equip(load.client, address)
	}
	send := func(int) error { return load.send() }
	run(*concurrency, *warmup, send)
	if *ca != "" && *fresh != 0 {
		expected := *resumed != 0
		load.resumed = &expected
	}
	decoderTime.Store(0)
	measure(*concurrency, *requests, send, func() string {
		if *job != "timed" {
			return ""
		}
		return fmt.Sprintf(`,"decoder_us":%.3f`, float64(decoderTime.Load())/1e3/float64(*requests))
	})
}
