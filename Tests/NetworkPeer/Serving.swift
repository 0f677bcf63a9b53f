import Glibc

/// A server for both families that tells each caller the address it comes from.
struct Serving {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16

    func run() throws {
        let listener = try listen()
        say("serving")
        while true {
            var peer = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let caller = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { accept(listener, $0, &length) }
            }
            guard caller >= 0 else { continue }
            answer(caller, peer)
        }
    }

    private func listen() throws -> Int32 {
        let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        var no: Int32 = 0
        setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        guard code == 0, Glibc.listen(listener, 16) == 0 else {
            throw Failure(description: String(cString: strerror(errno)))
        }
        return listener
    }

    private func answer(_ caller: Int32, _ peer: sockaddr_in6) {
        defer { close(caller) }
        var request = [UInt8](repeating: 0, count: 4096)
        guard recv(caller, &request, request.count, 0) > 0 else { return }
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var address = peer.sin6_addr
        inet_ntop(AF_INET6, &address, &name, socklen_t(name.count))
        let text = name.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let body = text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        _ = send(caller, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
    }
}
