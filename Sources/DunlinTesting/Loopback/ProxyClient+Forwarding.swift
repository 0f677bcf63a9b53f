internal import Glibc
internal import Synchronization

/// Requests in absolute form, which are forwarded to their origin on a separate connection.
extension LoopbackProxy.Client {
    /// Forwards the request, and meanwhile returns the origin's response.
    mutating func forward(_ method: String, _ target: String, _ lines: [String]) throws {
        guard let colons = target.firstRange(of: "://") else { throw Over() }
        let rest = target[colons.upperBound...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let port = rest[..<slash].split(separator: ":").last.flatMap { UInt16($0) } ?? 80
        guard let far = connect(to: port) else {
            _ = try answer(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8))
            return
        }
        defer { _ = close(far.socket) }
        let kept = lines.dropFirst().filter { !$0.isEmpty && !$0.lowercased().hasPrefix("proxy-") }
        let path = slash == rest.endIndex ? "/" : String(rest[slash...])
        let head = (["\(method) \(path) HTTP/1.1"] + kept + ["Connection: close", "", ""]).joined(separator: "\r\n")
        try far.write(Array(head.utf8))
        if core.state.withLock({ $0.faults.isEmpty }) {
            try relay(far, lines)
        } else {
            try relayBody(lines, to: far)
            var response: [UInt8] = []
            while case let bytes = try far.read(), !bytes.isEmpty { response += bytes }
            let (head, body) = Self.parted(&response)
            if try answer(head + body), !Self.hasLength(head) { throw Over() }
        }
    }

    /// Relays in both directions at once.
    private mutating func relay(_ far: LoopbackProxy.Peer, _ lines: [String]) throws {
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
            throw Over()
        }
        let (end, other) = (LoopbackProxy.Peer(pair[0], peer.lifeline), pair[1])
        defer { _ = close(end.socket) }
        let (nearCopy, farCopy) = (fcntl(peer.socket, F_DUPFD_CLOEXEC, 0), fcntl(far.socket, F_DUPFD_CLOEXEC, 0))
        core.start("proxy-back", beside: peer.lifeline) { lifeline in
            let (near, far) = (LoopbackProxy.Peer(nearCopy, lifeline), LoopbackProxy.Peer(farCopy, lifeline))
            // Sends a byte for a response after which the connection can serve another request.
            do {
                if try Self.copyResponse(from: far, to: near) { try LoopbackProxy.Peer(other, lifeline).write([1]) }
            } catch {
                // One of them is gone; the closes below tell the other.
            }
            for socket in [nearCopy, farCopy, other] { _ = close(socket) }
        }
        var isWhole = true
        do {
            try relayBody(lines, to: far)
        } catch {
            // The client is gone, or the origin accepts no more; the response is still passed on to its end.
            isWhole = false
            _ = shutdown(far.socket, Int32(SHUT_WR))
        }
        let canGoOn = try !end.read().isEmpty
        guard isWhole, canGoOn else { throw Over() }
    }

    /// Copies a response. Returns whether the client knows where it ends.
    private static func copyResponse(from far: LoopbackProxy.Peer, to near: LoopbackProxy.Peer) throws -> Bool {
        var (input, head) = ([UInt8](), [UInt8]())
        repeat {
            while input.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
                let bytes = try far.read()
                if bytes.isEmpty { return false }
                input += bytes
            }
            (head, input) = parted(&input)
            try near.write(head)
        } while head.starts(with: Array("HTTP/1.1 1".utf8))
        try near.write(input)
        var (count, last) = (input.count, Array(input.suffix(5)))
        while case let bytes = try far.read(), !bytes.isEmpty {
            try near.write(bytes)
            count += bytes.count
            last = Array((last + bytes.suffix(5)).suffix(5))
        }
        return isWhole(head, count, endingWith: last)
    }

    /// Whether the client sees that the response is complete. One that is cut short also ends the connection.
    private static func isWhole(_ head: [UInt8], _ count: Int, endingWith last: [UInt8]) -> Bool {
        let text = String(decoding: head, as: UTF8.self).lowercased()
        if text.contains("transfer-encoding: chunked") { return last == Array("0\r\n\r\n".utf8) }
        guard let length = text.firstRange(of: "content-length: ") else { return hasLength(head) }
        return text[length.upperBound...].prefix { $0.isNumber } == "\(count)"
    }

    /// The head for the client, and what follows it.
    private static func parted(_ response: inout [UInt8]) -> (head: [UInt8], rest: [UInt8]) {
        guard let end = response.firstRange(of: Array("\r\n\r\n".utf8)) else { return (response, []) }
        let lines = String(decoding: response[..<end.upperBound], as: UTF8.self).components(separatedBy: "\r\n")
        let head = lines.filter { $0 != "Connection: close" }.joined(separator: "\r\n")
        return (Array(head.utf8), Array(response[end.upperBound...]))
    }

    private static func hasLength(_ head: [UInt8]) -> Bool {
        let text = String(decoding: head, as: UTF8.self).lowercased()
        return text.contains("content-length:") || text.contains("transfer-encoding: chunked")
            || text.hasPrefix("http/1.1 204") || text.hasPrefix("http/1.1 304")
    }

    // MARK: - Bodies

    /// Reads the request's body, and forwards it unchanged.
    mutating func relayBody(_ lines: [String], to far: LoopbackProxy.Peer?) throws {
        if let count = value(of: "content-length", lines).flatMap({ Int($0) }) { return try relay(count, to: far) }
        guard value(of: "transfer-encoding", lines) == "chunked" else { return }
        while true {
            let line = try take(through: "\r\n")
            try far?.write(line)
            let digits = String(decoding: line, as: UTF8.self).prefix { $0.isHexDigit }
            guard let size = Int(digits, radix: 16) else { throw Over() }
            if size == 0 { break }
            try relay(size + 2, to: far)
        }
        var line: [UInt8]
        repeat {
            line = try take(through: "\r\n")
            try far?.write(line)
        } while line.count > 2
    }

    private mutating func relay(_ count: Int, to far: LoopbackProxy.Peer?) throws {
        var left = count
        while left > 0 {
            if input.isEmpty { try readMore() }
            let piece = try take(min(left, input.count))
            try far?.write(piece)
            left -= piece.count
        }
    }
}
