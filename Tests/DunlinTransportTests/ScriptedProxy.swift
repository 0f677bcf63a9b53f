import DunlinReactor
import Glibc
import Synchronization

/// A server that lets nobody through to another before they have said their lines. Blocking, on threads of its own.
final class ScriptedProxy: Sendable {
    /// What somebody who came has said: the lines, and how what followed begins.
    struct Visit: Equatable, Sendable {
        var lines: [String] = []
        var next: UInt8?
    }

    let port: UInt16
    private let target: UInt16
    /// What is answered to each line; nil for a silence without end.
    private let answers: [String?]
    private let listener: Socket
    private let known = Mutex<[Visit]>([])

    var visits: [Visit] { known.withLock { $0 } }

    init(to target: UInt16, answering answers: [String?]) throws {
        self.target = target
        self.answers = answers
        listener = try Socket()
        port = try listener.listen()
        try SystemThread.start(name: "doorman") { [self] in
            while let visitor = listener.accept() {
                let index = known.withLock { visits in
                    visits.append(Visit())
                    return visits.count - 1
                }
                try? SystemThread.start(name: "visit") { self.receive(visitor, index) }
            }
        }
    }

    /// Nobody is let in any more.
    func stop() { listener.end(Int32(SHUT_RDWR)) }

    private func receive(_ visitor: Socket, _ index: Int) {
        for answer in answers {
            guard let line = visitor.readLine() else { return }
            known.withLock { $0[index].lines.append(line) }
            if let answer { visitor.write(Array("\(answer)\n".utf8)) } else { break }
        }
        let first = visitor.read()
        known.withLock { $0[index].next = first.first }
        guard !first.isEmpty, let far = try? Socket(), far.connect(to: target) else { return }
        far.write(first)
        try? SystemThread.start(name: "way back") { far.copy(to: visitor) }
        visitor.copy(to: far)
    }
}

extension ScriptedProxy {
    /// A blocking socket, closed with the last reference.
    private final class Socket: Sendable {
        private let descriptor: Int32

        init() throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        }

        private init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// The port it listens on.
        func listen() throws -> UInt16 {
            var port: UInt16?
            let code = Self.withLoopback(0) { bind(descriptor, $0, $1) }
            if code == 0, Glibc.listen(descriptor, 16) == 0 {
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let named = withUnsafeMutableBytes(of: &address) { bytes in
                    bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
                }
                if named == 0 { port = UInt16(bigEndian: address.sin_port) }
            }
            guard let port else { throw Errno(rawValue: errno) }
            return port
        }

        func accept() -> Socket? {
            let descriptor = Glibc.accept(descriptor, nil, nil)
            return descriptor < 0 ? nil : Socket(descriptor)
        }

        func connect(to port: UInt16) -> Bool {
            Self.withLoopback(port) { Glibc.connect(descriptor, $0, $1) } == 0
        }

        private static func withLoopback(
            _ port: UInt16, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        /// What has come; empty at the end.
        func read() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return Array(bytes.prefix(max(0, count)))
        }

        /// Takes nothing of what follows it.
        func readLine() -> String? {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
            return nil
        }

        func write(_ bytes: [UInt8]) {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return }
                sent += count
            }
        }

        func copy(to other: Socket) {
            while true {
                let bytes = read()
                if bytes.isEmpty { break }
                other.write(bytes)
            }
            other.end(Int32(SHUT_WR))
        }

        func end(_ how: Int32) { _ = shutdown(descriptor, how) }
    }
}
