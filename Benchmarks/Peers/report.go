// What the Go clients share: the callers, the clocks, and the one line of JSON at the end.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// trusting speaks TLS with whom the authority in this file vouches for.
func trusting(file string, resumed bool) *tls.Config {
	pem, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if resumed {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return config
}

// run has concurrency goroutines send an equal share of the requests each, and returns how long each request took.
func run(concurrency, requests int, send func(caller int) error) []time.Duration {
	all := make([]time.Duration, requests)
	var callers sync.WaitGroup
	for caller := 0; caller < concurrency; caller++ {
		share := all[requests*caller/concurrency : requests*(caller+1)/concurrency]
		callers.Add(1)
		go func(caller int) {
			defer callers.Done()
			for at := range share {
				begun := time.Now()
				if err := send(caller); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				share[at] = time.Since(begun)
			}
		}(caller)
	}
	callers.Wait()
	return all
}

func usage() syscall.Rusage {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage
}

func microseconds(from, to syscall.Timeval) float64 {
	return float64(to.Sec-from.Sec)*1e6 + float64(to.Usec-from.Usec)
}

func kilobytes(name string) (value int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, after, _ := strings.Cut(string(status), name+":")
	fmt.Sscan(after, &value)
	return value
}

// heap is what was allocated and is still used.
func heap() int64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc + memory.StackInuse)
}

// measure runs the requests that count, and prints the one line of JSON; more says what else stands in it.
func measure(concurrency, requests int, send func(caller int) error, more func() string) {
	startHeap := heap()
	start := kilobytes("VmRSS")
	before, begun := usage(), time.Now()
	all := run(concurrency, requests, send)
	seconds, after := time.Since(begun).Seconds(), usage()
	peak, end := kilobytes("VmHWM"), kilobytes("VmRSS")
	grown := heap() - startHeap
	sort.Slice(all, func(left, right int) bool { return all[left] < all[right] })
	count := float64(requests)
	fmt.Printf(`{"requests":%d,"seconds":%.6f,"user_us":%.3f,"sys_us":%.3f,`+
		`"p50_us":%.1f,"p99_us":%.1f,"rss_kb":%d,"start_kb":%d,"end_kb":%d,"heap_grown":%d%s}`+"\n",
		requests, seconds, microseconds(before.Utime, after.Utime)/count, microseconds(before.Stime, after.Stime)/count,
		float64(all[requests/2])/1e3, float64(all[requests*99/100])/1e3, peak, start, end, grown, more())
}
