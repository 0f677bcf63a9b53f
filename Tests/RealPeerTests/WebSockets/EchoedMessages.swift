import Dunlin
import DunlinTesting
import Testing

/// Messages of many lengths that a peer sends back.
enum EchoedMessages {
    /// What a message is made of.
    enum Content: CaseIterable, Sendable {
        /// Rows that repeat each other, in all of a connection's messages.
        case rows
        /// What does not become much shorter.
        case noise

        /// So many bytes of ASCII, other ones for each number.
        func bytes(_ count: Int, number: Int) -> [UInt8] {
            switch self {
            case .rows:
                var bytes: [UInt8] = []
                var row = number * 1000
                while bytes.count < count {
                    bytes += Array(
                        "{\"id\": \(row), \"name\": \"item \(row)\", \"tags\": [\"first\", \"second\"]}\n".utf8)
                    row += 1
                }
                return Array(bytes.prefix(count))
            case .noise:
                var dice = SeededGenerator(seed: UInt64(number))
                return (0..<count).map { _ in UInt8(dice.next(in: 32...126)) }
            }
        }
    }

    /// How messages are sent and read.
    enum Form: CaseIterable, Sendable {
        case whole, pieces
    }

    /// From 16 bytes to 128 KiB.
    static let sizes = (4...17).map { 1 << $0 }
    /// Of each size, content, kind and way, so many.
    static func count(of size: Int) -> Int { size <= 1024 ? 8 : 1 }

    /// All messages, in order.
    static let all: [HTTPSession.WebSocket.Message] = sizes.flatMap { size in
        Content.allCases.flatMap { content in
            (0..<count(of: size)).flatMap { number -> [HTTPSession.WebSocket.Message] in
                let bytes = content.bytes(size, number: size + number)
                return [.text(String(decoding: bytes, as: UTF8.self)), .binary(Bytes(bytes))]
            }
        }
    }

    /// Sends all messages, and expects each of them back, byte for byte.
    static func exchange(over socket: HTTPSession.WebSocket, _ form: Form) async throws {
        async let sent: Void = send(over: socket, form)
        for (index, expected) in all.enumerated() {
            let message = try await next(from: socket, form)
            // A difference is not printed: that would be very long.
            guard message == expected else {
                Issue.record("message \(index) of \(expected.bytes.count) bytes is \(message?.bytes.count ?? -1) long")
                break
            }
        }
        try await sent
    }

    private static func next(
        from socket: HTTPSession.WebSocket, _ form: Form
    ) async throws -> HTTPSession.WebSocket.Message? {
        if form == .whole {
            var messages = socket.messages.makeAsyncIterator()
            return try await messages.next()
        }
        var bytes: [UInt8] = []
        for try await piece in socket.pieces {
            bytes += piece.content.bytes
            guard piece.isLast else { continue }
            let isText = piece.content.kind == .text
            return isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(Bytes(bytes))
        }
        return nil
    }

    private static func send(over socket: HTTPSession.WebSocket, _ form: Form) async throws {
        for message in all {
            switch (form, message) {
            case (.whole, _): try await socket.send(message)
            case (.pieces, .text(let text)):
                try await socket.send(pieces(Bytes(text)).map { String(decoding: $0.array, as: UTF8.self) }.sequence)
            case (.pieces, .binary(let bytes)): try await socket.send(pieces(bytes).sequence)
            }
        }
    }

    /// Seven pieces, of which one is empty.
    private static func pieces(_ bytes: Bytes) -> [Bytes] {
        let size = bytes.count / 6 + 1
        let cuts = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
        return [.empty] + cuts
    }
}

extension Array where Element: Sendable {
    fileprivate var sequence: AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self { continuation.yield(element) }
            continuation.finish()
        }
    }
}
