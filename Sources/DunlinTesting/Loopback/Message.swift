public import DunlinTypes

extension LoopbackServer {
    /// A response head, and the bytes that are sent with it.
    ///
    /// Nothing is checked or added: the client gets exactly this.
    public struct Message: Sendable, Hashable {
        public var status: HTTP.Status
        public var reason: String
        public var fields: Fields
        public var body: Bytes

        /// Creates a message. Without a reason, the usual phrase for the status is sent, or none.
        public init(_ status: HTTP.Status, reason: String? = nil, fields: Fields = Fields(), body: Bytes = .empty) {
            self.status = status
            self.reason = reason ?? Self.usualReason(status)
            self.fields = fields
            self.body = body
        }

        /// The message as on the wire.
        public var bytes: Bytes {
            var text = Array("HTTP/1.1 \(status.code) \(reason)\r\n".utf8)
            for entry in fields.entries {
                text += fields.bytes[entry.name]
                text += [UInt8(ascii: ":"), UInt8(ascii: " ")]
                text += fields.bytes[entry.value]
                text += "\r\n".utf8
            }
            text += "\r\n".utf8
            body.withUnsafeBytes { text.append(contentsOf: $0) }
            return Bytes(text)
        }

        /// A piece of a body as one chunk. An empty one would end the body.
        static func chunk(_ piece: Bytes) -> Bytes {
            Bytes(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece.array + Array("\r\n".utf8))
        }

        /// The end of a chunked body.
        static func lastChunk(_ trailers: Fields) -> Bytes {
            let lines = trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
            return Bytes("0\r\n\(lines)\r\n")
        }

        public static func == (left: Message, right: Message) -> Bool { left.bytes == right.bytes }

        public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

        private static func usualReason(_ status: HTTP.Status) -> String {
            switch status {
            case .continue: "Continue"
            case .switchingProtocols: "Switching Protocols"
            case .earlyHints: "Early Hints"
            case .ok: "OK"
            case .created: "Created"
            case .noContent: "No Content"
            case .partialContent: "Partial Content"
            case .movedPermanently: "Moved Permanently"
            case .found: "Found"
            case .notModified: "Not Modified"
            case 416: "Range Not Satisfiable"
            case .badRequest: "Bad Request"
            case .unauthorized: "Unauthorized"
            case .notFound: "Not Found"
            case .internalServerError: "Internal Server Error"
            case .serviceUnavailable: "Service Unavailable"
            default: ""
            }
        }
    }
}
