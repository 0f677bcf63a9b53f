public import DunlinTypes

extension LoopbackServer {
    /// What a server does for one request: steps, in order. Afterwards the connection stays open for the next request,
    /// unless a step or the request closed it.
    public struct Reply: Sendable, ExpressibleByArrayLiteral {
        public var steps: [Step]
        /// Whether the body is read before the reply starts. If not, the reply starts when the request's head is there,
        /// and the body is read afterwards.
        public var readsBodyFirst = true

        public init(_ steps: [Step]) {
            self.steps = steps
        }

        public init(arrayLiteral steps: Step...) {
            self.init(steps)
        }
    }
}

extension LoopbackServer.Reply {
    /// A whole response in one send. Content-Length is added if it is allowed and not given.
    public static func response(_ status: HTTP.Status = .ok, fields: Fields = Fields(), body: Bytes = .empty) -> Self {
        var fields = fields
        let mayHaveLength = !status.isInformational && status != .noContent && status != .notModified
        if mayHaveLength, !fields.contains("Content-Length"), !fields.contains("Transfer-Encoding") {
            fields.append(name: "Content-Length", value: "\(body.count)")
        }
        return [.message(.init(status, fields: fields, body: body))]
    }

    /// A chunked response: the head, each piece as one chunk, then the last chunk with the trailers, each in its own
    /// send. Empty pieces are left out, since they would end the body.
    public static func chunked(
        _ pieces: [Bytes], trailers: Fields = Fields(), status: HTTP.Status = .ok, fields: Fields = Fields()
    ) -> Self {
        var fields = fields
        fields.append(name: "Transfer-Encoding", value: "chunked")
        var reply = Self([.message(.init(status, fields: fields))])
        for piece in pieces where !piece.isEmpty { reply.steps.append(.send(LoopbackServer.Message.chunk(piece))) }
        reply.steps.append(.send(LoopbackServer.Message.lastChunk(trailers)))
        return reply
    }

    /// A response whose body ends with the connection.
    public static func untilClose(_ body: Bytes, status: HTTP.Status = .ok, fields: Fields = Fields()) -> Self {
        var fields = fields
        fields.append(name: "Connection", value: "close")
        return [.message(.init(status, fields: fields, body: body)), .close]
    }

    /// A 101 that switches to a protocol, then these steps, with bytes that are not HTTP: then the connection ends.
    ///
    /// ```swift
    /// server.enqueue(.upgrade(to: "chat", .expect("hello"), .send("hi"), .echo))
    /// ```
    public static func upgrade(to protocol: String, fields: Fields = Fields(), _ steps: LoopbackServer.Step...) -> Self
    {
        var fields = fields
        fields.append(name: "Connection", value: "Upgrade")
        fields.append(name: "Upgrade", value: `protocol`)
        return Self([.message(.init(.switchingProtocols, fields: fields))] + steps + [.close])
    }

    /// Exactly these bytes, in one send; a HEAD request gets all of them, too.
    public static func raw(_ bytes: Bytes) -> Self {
        [.send(bytes)]
    }

    /// A response with `length` bytes of `GeneratedBody`.
    public static func generated(length: Int, status: HTTP.Status = .ok, fields: Fields = Fields()) -> Self {
        var fields = fields
        fields.append(name: "Content-Length", value: "\(length)")
        return [.message(.init(status, fields: fields)), .generate(length)]
    }
}
