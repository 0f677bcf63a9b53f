import CEpoll
import DunlinTypes
import Glibc

/// The other end of a connection to a server under test: one blocking socket, and nothing of the code under test.
struct Peer: ~Copyable {
    enum Ending: Equatable {
        case closed
        case reset
        /// Nothing came for ten seconds: no test waits for that on purpose.
        case silent
    }

    struct Refused: Error {
        let code: Int32
    }

    let socket: Int32

    init(_ address: HTTP.SocketAddress, receiveBuffer: Int32? = nil, connectLimit: Int? = nil) throws {
        let family =
            switch address {
            case .v4: AF_INET
            case .v6: AF_INET6
            case .unix: AF_UNIX
            }
        socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        setOption(SO_RCVTIMEO, timeval(tv_sec: 10, tv_usec: 0))
        // Bounds connect as well.
        if let connectLimit { setOption(SO_SNDTIMEO, timeval(tv_sec: 0, tv_usec: connectLimit)) }
        if let receiveBuffer { setOption(SO_RCVBUF, receiveBuffer) }
        let bytes = Self.raw(address)
        let code = bytes.withUnsafeBytes { bytes in
            connect(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard code == 0 else { throw Refused(code: errno) }
    }

    deinit { _ = close(socket) }

    consuming func hangUp() {}

    func send(_ bytes: Bytes) {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }

    func halfClose() {
        _ = shutdown(socket, Int32(SHUT_WR))
    }

    /// Closes with a reset.
    consuming func abort() {
        setOption(SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    /// Exactly `count` bytes, or fewer when the connection ends before.
    func read(_ count: Int) -> String {
        String(Bytes(readBytes(upTo: count).bytes))
    }

    /// All until the end, and how it ended.
    func readToEnd() -> (text: String, ending: Ending) {
        let (bytes, ending) = readBytes(upTo: .max)
        return (String(Bytes(bytes)), ending)
    }

    /// A response with a Content-Length: head and body.
    func readResponse() -> String {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            let byte = read(1)
            if byte.isEmpty { return head }
            head += byte
        }
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.drop { $0 != " " }.dropFirst()) } ?? 0
        return head + read(length)
    }

    func readBytes(upTo count: Int) -> (bytes: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let got = recv(socket, &buffer, min(buffer.count, count - bytes.count), 0)
            if got == 0 { return (bytes, .closed) }
            if got < 0 { return (bytes, errno == ECONNRESET ? .reset : .silent) }
            bytes += buffer[..<got]
        }
        return (bytes, .silent)
    }

    /// How many segments with data the kernel has received: one per send of a peer that does not delay.
    var segmentsReceived: Int {
        var information = [UInt8](repeating: 0, count: 256)
        var size = socklen_t(information.count)
        getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &information, &size)
        // tcpi_data_segs_in, which the Glibc module's struct is too old to have.
        return information.withUnsafeBytes { Int($0.load(fromByteOffset: 152, as: UInt32.self)) }
    }

    private func setOption<Value>(_ option: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(socket, SOL_SOCKET, option, bytes.baseAddress, socklen_t(bytes.count))
        }
    }

    private static func raw(_ address: HTTP.SocketAddress) -> [UInt8] {
        func bytes(_ integer: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: integer) { Array($0) } }
        switch address {
        case .v4(let host, let port):
            return bytes(UInt16(AF_INET)) + bytes(port.bigEndian) + bytes(host.bigEndian) + bytes(UInt64(0))
        case .v6(let high, let low, let port, let scope):
            return bytes(UInt16(AF_INET6)) + bytes(port.bigEndian) + bytes(UInt32(0)) + bytes(high.bigEndian)
                + bytes(low.bigEndian) + bytes(scope)
        case .unix(let path):
            let isAbstract = path.utf8.first == 0
            return bytes(UInt16(AF_UNIX)) + Array(path.utf8) + (isAbstract ? [] : [0])
        }
    }
}

extension Bytes {
    /// A GET with nothing but its Host.
    static func get(_ target: String = "/") -> Bytes { Bytes("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n") }
}
