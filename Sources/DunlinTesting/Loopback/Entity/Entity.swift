public import DunlinTypes

extension LoopbackServer {
    /// A file on a server: any number of bytes of `GeneratedBody`, with their HTTP metadata.
    ///
    /// It answers by RFC 9110: a single range with 206 or 416, If-Range by strong comparison, HEAD without a body.
    /// Several ranges, and invalid ones, are ignored, as they may be.
    public struct Entity: Sendable {
        public var length: Int
        /// The offset in `GeneratedBody` at which it begins; another offset gives other content.
        public var offset = 0
        /// The `ETag` field as it is sent, with quotes and `W/`; nil for none.
        public var tag: String?
        public var lastModified: String?
        /// Whether ranges are supported; if not, it sends `Accept-Ranges: none`.
        public var hasRanges = true
        /// Further fields.
        public var fields = Fields()

        public init(
            length: Int, offset: Int = 0, tag: String? = nil, lastModified: String? = nil, hasRanges: Bool = true,
            fields: Fields = Fields()
        ) {
            self.length = length
            self.offset = offset
            self.tag = tag
            self.lastModified = lastModified
            self.hasRanges = hasRanges
            self.fields = fields
        }

        /// Other content with the same length, and validators to match.
        public var changed: Entity {
            var entity = self
            entity.offset += 1
            entity.tag = tag.map { "\($0.dropLast())+\"" }
            entity.lastModified = lastModified.map { _ in "Thu, 31 Dec 2020 23:59:59 GMT" }
            return entity
        }

        /// The whole content, for entities that fit in memory.
        public var bytes: Bytes { GeneratedBody.bytes(offset..<(offset + length)) }

        /// Returns the server's reply to `request`.
        public func reply(to request: RecordedRequest) -> Reply {
            guard request.method == .get, hasRanges, applies(request.fields["If-Range"]) else { return whole }
            switch ByteRange(request.fields["Range"], of: length) {
            case .all: return whole
            case .part(let range): return part(range)
            case .unsatisfiable: return unsatisfiable
            }
        }

        /// A 200 reply with the whole content.
        public var whole: Reply { reply(.ok, 0..<length) }

        /// Returns a 206 reply with a part; `said` replaces the Content-Range by a false one.
        public func part(_ range: Range<Int>, said: String? = nil) -> Reply {
            let said = said ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            return reply(.partialContent, range, ["Content-Range": said])
        }

        /// A 416 reply.
        public var unsatisfiable: Reply { .response(416, fields: ["Content-Range": "bytes */\(length)"]) }

        private func reply(_ status: HTTP.Status, _ range: Range<Int>, _ more: Fields = Fields()) -> Reply {
            var said = fields
            said.append(name: "Accept-Ranges", value: hasRanges ? "bytes" : "none")
            if let tag { said.append(name: "ETag", value: tag) }
            if let lastModified { said.append(name: "Last-Modified", value: lastModified) }
            for field in more { said.append(name: field.name, value: field.value) }
            said.append(name: "Content-Length", value: "\(range.count)")
            let body = (offset + range.lowerBound)..<(offset + range.upperBound)
            return [.message(.init(status, fields: said)), .generated(body)]
        }

        /// Whether a condition holds (RFC 9110 §13.1.5): never for a weak tag, and for a date if it is exactly the one
        /// sent.
        private func applies(_ condition: String?) -> Bool {
            guard let condition else { return true }
            if condition.hasPrefix("\"") { return condition == tag }
            return !condition.hasPrefix("W/") && condition == lastModified
        }
    }
}
