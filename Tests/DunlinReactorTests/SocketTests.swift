import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

@Suite struct `Numeric hosts` {
    static let hosts: [(String, String?)] = [
        ("127.0.0.1", "127.0.0.1:81"), ("255.254.253.252", "255.254.253.252:81"), ("::1", "[::1]:81"),
        ("2001:db8:0:0:0:0:0:1", "[2001:db8::1]:81"), ("::ffff:192.168.1.1", "[::ffff:c0a8:101]:81"),
        ("localhost", nil), ("", nil), ("127.0.0", nil), ("127.1", nil), ("1.2.3.4.5", nil), ("256.1.1.1", nil),
        ("[::1]", nil), ("1::2::3", nil), ("fe80::1%lo", nil), ("12345::", nil),
    ]

    @Test(arguments: hosts)
    func `numeric hosts are told apart from names`(host: String, expected: String?) {
        #expect(HTTP.SocketAddress(numericHost: host, port: 81)?.description == expected)
    }
}

@Suite struct `Sockets` {
    @Test func `a socket passes bytes over IPv4`() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let listener = try Listener(address, family: AF_INET)
        let port = try listener.port(of: sockaddr_in()) { UInt16(bigEndian: $0.sin_port) }
        try exchange(.v4(INADDR_LOOPBACK, port: port), listener)
    }

    @Test func `a socket passes bytes over IPv6`() throws {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        let listener = try Listener(address, family: AF_INET6)
        let port = try listener.port(of: sockaddr_in6()) { UInt16(bigEndian: $0.sin6_port) }
        try exchange(.v6(0, 1, port: port), listener)
    }

    @Test func `a socket passes bytes over a Unix path`() throws {
        let path = "/tmp/dunlin-\(getpid())-\(UInt32.random(in: 0...(.max))).sock"
        defer { unlink(path) }
        let listener = try Listener(unix: path)
        try exchange(.unix(path), listener)
    }

    @Test func `a socket passes bytes over an abstract name`() throws {
        let name = "\0dunlin-\(getpid())-\(UInt32.random(in: 0...(.max)))"
        let listener = try Listener(unix: name)
        try exchange(.unix(name), listener)
    }

    /// Connects, says "ping", hears "pong", and sees the end.
    private func exchange(_ address: HTTP.SocketAddress, _ listener: borrowing Listener) throws {
        let socket = try Socket(for: address)
        let state = try socket.connect(to: address)
        let peer = accept(listener.descriptor, nil, nil)
        try #require(peer >= 0)
        // What accept returned was connected by then, whether or not the kernel said so at once.
        if state == .underway { try socket.pendingError() }
        var seen = try [Seen(socket, upTo: 10)]
        let sent = try socket.write("ping")
        #expect(sent == 4)
        var buffer = [UInt8](repeating: 0, count: 10)
        let arrived = recv(peer, &buffer, 10, 0)
        #expect(String(decoding: buffer.prefix(max(arrived, 0)), as: UTF8.self) == "ping")
        let answered = send(peer, "pong", 4, 0)
        #expect(answered == 4)
        seen.append(try Seen(socket, upTo: 3))
        seen.append(try Seen(socket, upTo: 3))
        close(peer)
        seen.append(try Seen(socket, upTo: 3))
        let expected = [
            Seen(.silent, nil), Seen(.bytes, Array("pon".utf8)), Seen(.bytes, Array("g".utf8)), Seen(.ended, []),
        ]
        #expect(seen == expected)
    }

    /// What a look and then a read found.
    private struct Seen: Equatable {
        var peek: Socket.Peek
        var bytes: [UInt8]?

        init(_ peek: Socket.Peek, _ bytes: [UInt8]?) {
            self.peek = peek
            self.bytes = bytes
        }

        init(_ socket: borrowing Socket, upTo capacity: Int) throws {
            peek = socket.peek()
            bytes = try socket.read(upTo: capacity)
        }
    }
}

@Suite struct `Sockets in trouble` {
    @Test func `a socket takes no more than the kernel has room for`() throws {
        let pair = try Pair()
        let chunk = String(repeating: "x", count: 1 << 20)
        var total = 0
        while let count = try pair.near.write(chunk) { total += count }
        #expect(total > 0)
        var drained = 0
        while let bytes = try pair.far.read(upTo: 1 << 16) { drained += bytes.count }
        #expect(drained == total)
    }

    @Test func `a socket reports a refused connection by its number`() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        // Bound and not listening: nobody else gets the port, and nobody answers on it.
        let deaf = try Listener(address, family: AF_INET, isListening: false)
        let port = try deaf.port(of: sockaddr_in()) { UInt16(bigEndian: $0.sin_port) }
        let target = HTTP.SocketAddress.v4(INADDR_LOOPBACK, port: port)
        let socket = try Socket(for: target)
        let failure = error {
            guard try socket.connect(to: target) == .underway else { return }
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
            _ = Glibc.poll(&poll, 1, 10_000)
            try socket.pendingError()
        }
        #expect(failure == Errno(rawValue: ECONNREFUSED))
        #expect(failure?.description == "Connection refused")
    }

    static let paths: [(String, Int32)] = [
        ("", ENAMETOOLONG), (String(repeating: "p", count: 108), ENAMETOOLONG),
        (String(repeating: "p", count: 107), ENOENT), ("\0" + String(repeating: "p", count: 108), ENAMETOOLONG),
        ("\0" + String(repeating: "p", count: 107), ECONNREFUSED),
    ]

    @Test(arguments: paths)
    func `a Unix path the kernel has no room for is refused, and no shorter one`(path: String, expected: Int32) throws {
        let socket = try Socket(for: .unix(path))
        let failure = error { _ = try socket.connect(to: .unix(path)) }
        #expect(failure == Errno(rawValue: expected))
    }

    @Test func `a socket closes its descriptor when it ends, and a write to a closed peer is an error`() throws {
        let near = try Pair().giveNear()
        let failure = error { _ = try near.write("x") }
        #expect(failure == Errno(rawValue: EPIPE))
        let rest = try near.read(upTo: 1)
        #expect(rest == [])
    }

    private func error(_ body: () throws -> Void) -> Errno? {
        do {
            try body()
            return nil
        } catch {
            return error as? Errno
        }
    }
}

extension Socket {
    fileprivate func write(_ text: String) throws(Errno) -> Int? {
        try Bytes(text).withUnsafeBytes { bytes throws(Errno) in try write(bytes) }
    }
}
