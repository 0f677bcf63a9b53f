package import DunlinTypes

extension EntityTag {
    /// Returns whether the tags name the same state, by RFC 9110 §8.8.3.2, even if its bytes differ.
    package func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque == other.opaque
    }

    private var opaque: Bytes { bytes.starts(with: "W/".utf8) ? bytes[2...] : bytes }

    /// An If-None-Match field (RFC 9110 §13.1.2).
    package enum List: Sendable, Hashable {
        case absent
        /// `*`: any state.
        case any
        case tags([EntityTag])
        /// The field is no list of tags; only the server can judge it.
        case unreadable

        package init(_ values: [Bytes]) {
            if values.isEmpty {
                self = .absent
            } else if values.count == 1, values[0].elementsEqual("*".utf8) {
                self = .any
            } else {
                self = Self.tags(in: values).map { .tags($0) } ?? .unreadable
            }
        }

        private static func tags(in values: [Bytes]) -> [EntityTag]? {
            var tags: [EntityTag] = []
            for value in values {
                var reader = ValueReader(value)
                while true {
                    repeat { reader.skipBlanks() } while reader.take(",")
                    if reader.isAtEnd { break }
                    guard let tag = tag(&reader), reader.isAtElementEnd else { return nil }
                    tags.append(tag)
                }
            }
            return tags.isEmpty ? nil : tags
        }

        private static func tag(_ reader: inout ValueReader) -> EntityTag? {
            let prefix = reader.takeAll { $0 == UInt8(ascii: "W") || $0 == UInt8(ascii: "/") }
            guard reader.take("\"") else { return nil }
            let opaque = reader.takeAll { $0 != UInt8(ascii: "\"") }
            guard reader.take("\"") else { return nil }
            return EntityTag(Bytes(Array(prefix) + [UInt8(ascii: "\"")] + opaque + [UInt8(ascii: "\"")]))
        }
    }
}
