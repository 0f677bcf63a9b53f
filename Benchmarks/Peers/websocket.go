// WebSockets by gorilla/websocket: a client of one scheduler thread, and with --serve the server of every client.
//
// The client opens a socket for each caller and has messages echoed, or with --job open opens a socket for each
// request, has two messages echoed, and keeps the socket, with a goroutine that waits for its next message.
//
// The server prints its port once it listens, and ends with its standard input. With --ca FILE it speaks TLS, and
// writes into that file what vouches for it.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/gorilla/websocket"
)

// check ends the program for an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func echo(socket *websocket.Conn, message []byte) error {
	if err := socket.WriteMessage(websocket.BinaryMessage, message); err != nil {
		return err
	}
	_, answer, err := socket.ReadMessage()
	if err == nil && len(answer) != len(message) {
		err = errors.New("a message of another length")
	}
	return err
}

func client(url, ca string, concurrency, requests, warmup, length int, keeps bool) {
	runtime.GOMAXPROCS(1)
	dialer := websocket.Dialer{}
	if ca != "" {
		dialer.TLSClientConfig = trusting(ca, false)
	}
	open := func() *websocket.Conn {
		socket, _, err := dialer.Dial(url, nil)
		check(err)
		return socket
	}
	message := make([]byte, length)
	none := func() string { return "" }
	if keeps {
		measure(concurrency, requests, func(int) error {
			socket := open()
			for count := 0; count < 2; count++ {
				if err := echo(socket, message); err != nil {
					return err
				}
			}
			go socket.ReadMessage()
			return nil
		}, none)
		return
	}
	sockets := make([]*websocket.Conn, concurrency)
	for at := range sockets {
		sockets[at] = open()
	}
	send := func(caller int) error { return echo(sockets[caller], message) }
	run(concurrency, warmup, send)
	measure(concurrency, requests, send, none)
}

// certificate makes one for the server's address, which vouches for itself, and writes it into a file.
func certificate(file string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	wanted := x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:  x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	made, err := x509.CreateCertificate(rand.Reader, &wanted, &wanted, &key.PublicKey, key)
	check(err)
	check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), 0o600))
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

func serve(ca string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	port := listener.Addr().(*net.TCPAddr).Port
	if ca != "" {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(ca)}})
	}
	upgrader := websocket.Upgrader{}
	go http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		socket, err := upgrader.Upgrade(writer, request, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		for {
			kind, message, err := socket.ReadMessage()
			if err != nil || socket.WriteMessage(kind, message) != nil {
				return
			}
		}
	}))
	fmt.Println(port)
	io.Copy(io.Discard, os.Stdin)
}

func main() {
	serves := flag.Bool("serve", false, "")
	host := flag.String("host", "127.0.0.1", "")
	port := flag.Int("port", 80, "")
	path := flag.String("path", "/", "")
	concurrency := flag.Int("concurrency", 1, "")
	requests := flag.Int("requests", 1000, "")
	warmup := flag.Int("warmup", 100, "")
	length := flag.Int("length", 1024, "")
	job := flag.String("job", "echo", "")
	ca := flag.String("ca", "", "")
	flag.Parse()
	if *serves {
		serve(*ca)
		return
	}
	scheme := "ws"
	if *ca != "" {
		scheme = "wss"
	}
	url := fmt.Sprintf("%s://%s:%d%s", scheme, *host, *port, *path)
	client(url, *ca, *concurrency, *requests, *warmup, *length, *job == "open")
}
