import Dispatch
import Glibc

/// A client that sends just these bytes. Other clients write the fields of a connection themselves.
enum RawClient {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    /// What the server sends, up to `end`.
    static func exchange(_ request: String, port: Int, until end: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // Its calls wait, which a thread of Swift's pool must not.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try talk(request, port: port, until: end) })
            }
        }
    }

    private static func talk(_ request: String, port: Int, until end: String) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(call: "connect", number: errno) }
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(call: "send", number: errno)
        }
        var (text, buffer) = ("", [UInt8](repeating: 0, count: 1 << 16))
        while !text.hasSuffix(end) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Failure(call: "recv after \(text)", number: errno) }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        return text
    }
}
