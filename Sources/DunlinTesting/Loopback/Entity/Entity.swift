public import DunlinTypes

extension LoopbackServer {
    /// What a file server has at a target: bytes of `GeneratedBody`, as many as one likes, and what HTTP says of them.
    ///
    /// It answers as RFC 9110 has it: a single range with 206 or 416, If-Range by strong comparison, HEAD without a
    /// body. Several ranges and what cannot be read are ignored, as they may be.
    public struct Entity: Sendable {
        public var length: Int
        /// Where in `GeneratedBody` it begins: another number is another content.
        public var offset = 0
        /// The field as it stands there, quotes and `W/` included; nil: none.
        public var tag: String?
        public var lastModified: String?
        /// Without ranges it says `Accept-Ranges: none`.
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

        /// Another content of the same length, and validators that say so.
        public var changed: Entity {
            var entity = self
            entity.offset += 1
            entity.tag = tag.map { "\($0.dropLast())+\"" }
            entity.lastModified = lastModified.map { _ in "Thu, 31 Dec 2020 23:59:59 GMT" }
            return entity
        }

        /// All of it, for entities that fit in memory.
        public var bytes: Bytes { GeneratedBody.bytes(offset..<(offset + length)) }

        /// What the server says to `request`.
        public func reply(to request: RecordedRequest) -> Reply {
            guard request.method == .get, hasRanges, applies(request.fields["If-Range"]) else { return whole }
            switch ByteRange(request.fields["Range"], of: length) {
            case .all: return whole
            case .part(let range): return part(range)
            case .unsatisfiable: return unsatisfiable
            }
        }

        /// 200 with all of it.
        public var whole: Reply { reply(.ok, 0..<length) }

        /// 206 with a part; `said` is what Content-Range says of it if that is not true.
        public func part(_ range: Range<Int>, said: String? = nil) -> Reply {
            let said = said ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            return reply(.partialContent, range, ["Content-Range": said])
        }

        /// 416.
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

        /// RFC 9110 §13.1.5: a weak tag never does; a date does when it is the one that was said.
        private func applies(_ condition: String?) -> Bool {
            guard let condition else { return true }
            if condition.hasPrefix("\"") { return condition == tag }
            return !condition.hasPrefix("W/") && condition == lastModified
        }
    }
}
