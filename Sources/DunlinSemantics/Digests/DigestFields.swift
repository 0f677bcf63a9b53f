public import DunlinTypes

/// The digests that a response declares (RFC 9530), each a dictionary of structured fields (RFC 8941 §3.2).
///
/// Knows what the fields say. Must not know whether it is true: that is the reader's of the content.
public enum DigestFields: Sendable, Equatable {
    /// There is no digest with a known algorithm.
    case none
    case declared([ContentDigest])
    /// The field cannot be read; by RFC 8941 all of it is ignored then.
    case malformed

    /// Returns the digests of the representation as a whole, whatever part of it a response holds.
    public static func representation(_ fields: Fields) -> DigestFields {
        DigestFields(fields, "repr-digest")
    }

    /// Returns the digests of this response's content.
    public static func content(_ fields: Fields) -> DigestFields {
        DigestFields(fields, "content-digest")
    }

    /// The longest digest; nil if there is none.
    public var strongest: ContentDigest? {
        guard case .declared(let digests) = self else { return nil }
        return digests.max { $0.algorithm.byteCount < $1.algorithm.byteCount }
    }

    private init(_ fields: Fields, _ name: String) {
        let values = fields.rawValues(of: name)
        guard !values.isEmpty else {
            self = .none
            return
        }
        var reader = StructuredReader(values)
        guard let members = reader.dictionary() else {
            self = .malformed
            return
        }
        var digests: [ContentDigest] = []
        for algorithm in ContentDigest.Algorithm.allCases {
            guard let value = members[algorithm.rawValue] else { continue }
            guard case .bytes(let bytes) = value, let digest = ContentDigest(algorithm, Bytes(bytes)) else {
                self = .malformed
                return
            }
            digests.append(digest)
        }
        self = digests.isEmpty ? .none : .declared(digests)
    }
}
