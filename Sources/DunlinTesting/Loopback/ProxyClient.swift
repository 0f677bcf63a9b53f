internal import DunlinTypes
internal import Glibc
internal import Synchronization

extension LoopbackProxy {
    /// A client's connection.
    struct Client {
        let index: Int
        let peer: Peer
        let core: Core
        /// Bytes that have come and were not processed yet.
        var input: [UInt8] = []

        init(_ index: Int, _ peer: Peer, _ core: Core) {
            (self.index, self.peer, self.core) = (index, peer, core)
        }

        /// The client is gone, or no longer served.
        struct Over: Error {}

        mutating func serve() {
            do {
                if try byte(at: 0) == 5 { try serveSOCKS() }
                while true { try serveRequest() }
            } catch {
                return
            }
        }

        // MARK: - Reading

        mutating func byte(at position: Int) throws -> UInt8 {
            while input.count <= position { try readMore() }
            return input[position]
        }

        mutating func take(_ count: Int) throws -> [UInt8] {
            while input.count < count { try readMore() }
            defer { input.removeFirst(count) }
            return Array(input.prefix(count))
        }

        mutating func readMore() throws {
            let bytes = try peer.read()
            if bytes.isEmpty { throw Over() }
            input += bytes
        }

        /// Takes bytes up to and including `end`.
        mutating func take(through end: String) throws -> [UInt8] {
            while true {
                if let range = input.firstRange(of: Array(end.utf8)) { return try take(range.upperBound) }
                try readMore()
            }
        }

        // MARK: - Answering

        /// Sends its own answer, changed by the next fault. Returns whether the answer counts.
        func answer(_ own: [UInt8]) throws -> Bool {
            switch core.nextFault() {
            case .none: try peer.write(own)
            case .close(let count):
                try peer.write(Array(own.prefix(count)))
                throw Over()
            case .reset(let count):
                try peer.write(Array(own.prefix(count)))
                peer.reset()
                core.reset(index)
                throw Over()
            case .stall(let count):
                try peer.write(Array(own.prefix(count)))
                try peer.stall()
                throw Over()
            case .drip: for byte in own { try peer.write([byte]) }
            case .say(let bytes):
                try peer.write(Array(bytes))
                return false
            case .sayAndClose(let bytes):
                try peer.write(Array(bytes))
                throw Over()
            case .add(let bytes): try peer.write(own + Array(bytes))
            }
            return true
        }

        private func note(_ kind: Visit.Kind, _ target: String, _ said: String) {
            let visit = Visit(kind: kind, target: target, said: said, connection: index)
            core.state.withLock { $0.visits.append(visit) }
        }

        // MARK: - HTTP

        private mutating func serveRequest() throws {
            let head = String(decoding: try take(through: "\r\n\r\n"), as: UTF8.self)
            let lines = head.components(separatedBy: "\r\n")
            let words = lines[0].split(separator: " ")
            guard words.count == 3 else { throw Over() }
            let (method, target) = (String(words[0]), String(words[1]))
            note(method == "CONNECT" ? .connect : .absolute, target, head)
            let challenge = core.authenticator?.challenge(method, target, value(of: "proxy-authorization", lines))
            if let challenge {
                // A client that asks first whether a body is wanted sends none.
                let isAsking = value(of: "expect", lines) != nil
                if method != "CONNECT", !isAsking { try relayBody(lines, to: nil) }
                let words = "who are you?"
                _ = try answer(
                    Array(
                        ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: \(challenge)\r\n"
                            + (isAsking ? "Connection: close\r\n" : "")
                            + "Content-Length: \(words.utf8.count)\r\n\r\n\(words)").utf8))
                if isAsking { throw Over() }
                return
            }
            if method == "CONNECT" {
                guard let port = target.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw Over() }
                try tunnel(to: port, Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)) {
                    Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 12\r\n\r\nno such host".utf8)
                }
            } else {
                try forward(method, target, lines)
            }
        }

        func value(of name: String, _ lines: [String]) -> String? {
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name { return String(parts[1].drop { $0 == " " }) }
            }
            return nil
        }

        // MARK: - SOCKS

        private mutating func serveSOCKS() throws {
            let count = Int(try byte(at: 1))
            let methods = try take(2 + count).dropFirst(2)
            var said = ""
            if let credentials = core.authenticator {
                guard methods.contains(2) else {
                    _ = try answer([5, 0xFF])
                    throw Over()
                }
                try peer.write([5, 2])
                _ = try byte(at: 1)
                let user = try take(2 + Int(input[1])).dropFirst(2)
                let length = Int(try byte(at: 0))
                let password = try take(1 + length).dropFirst()
                said = String(decoding: user, as: UTF8.self) + ":" + String(decoding: password, as: UTF8.self)
                guard said == "\(credentials.user):\(credentials.password)" else {
                    _ = try answer([1, 1])
                    throw Over()
                }
                try peer.write([1, 0])
            } else {
                try peer.write([5, 0])
            }
            let (host, port) = try destination()
            note(.socks, "\(host):\(port)", said)
            try tunnel(to: port, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) { [5, 5, 0, 1, 0, 0, 0, 0, 0, 0] }
        }

        private mutating func destination() throws -> (host: String, port: UInt16) {
            let type = try byte(at: 3)
            let length = type == 1 ? 4 : type == 4 ? 16 : Int(try byte(at: 4)) + 1
            let bytes = Array(try take(4 + length + 2).dropFirst(4))
            let port = UInt16(bytes[length]) << 8 | UInt16(bytes[length + 1])
            if type == 3 { return (String(decoding: bytes[1..<length], as: UTF8.self), port) }
            if type == 1 { return (bytes[..<4].map { "\($0)" }.joined(separator: "."), port) }
            return ("IPv6", port)
        }

        // MARK: - Tunnels

        /// Connects, reports success, and carries bytes both ways until one side ends.
        private mutating func tunnel(to port: UInt16, _ success: [UInt8], _ failure: () -> [UInt8]) throws {
            guard let far = connect(to: port) else {
                _ = try answer(failure())
                throw Over()
            }
            defer { _ = close(far.socket) }
            guard try answer(success) else { return }
            try far.write(input)
            input = []
            // The way back has its own descriptors, so that it can outlive this one.
            let (nearCopy, farCopy) = (fcntl(peer.socket, F_DUPFD_CLOEXEC, 0), fcntl(far.socket, F_DUPFD_CLOEXEC, 0))
            core.start("proxy-back", beside: peer.lifeline) { lifeline in
                Peer(farCopy, lifeline).copy(to: Peer(nearCopy, lifeline))
                _ = close(farCopy)
                _ = close(nearCopy)
            }
            peer.copy(to: far)
            _ = shutdown(far.socket, Int32(SHUT_RDWR))
            throw Over()
        }

        func connect(to port: UInt16) -> Peer? {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { return nil }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if code == 0 { return Peer(socket, peer.lifeline) }
            _ = close(socket)
            return nil
        }
    }
}

extension String {
    func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
