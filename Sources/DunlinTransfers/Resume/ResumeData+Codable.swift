extension ResumeData: Codable {
    private enum Key: String, CodingKey {
        case version, url, method, fields, validator, completeLength, partPath, pieces, source
    }

    private struct StoredPiece: Codable {
        var start: Int
        var end: Int
        var checksum: UInt64
    }

    /// The version of the encoded form.
    private static let version = 4

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(url, forKey: .url)
        try values.encode(method.rawValue, forKey: .method)
        try values.encode(fields.map { [$0.name, $0.value] }, forKey: .fields)
        try values.encodeIfPresent(validator, forKey: .validator)
        try values.encodeIfPresent(completeLength, forKey: .completeLength)
        try values.encode(partPath, forKey: .partPath)
        let pieces = pieces.map {
            StoredPiece(start: $0.range.lowerBound, end: $0.range.upperBound, checksum: $0.checksum)
        }
        try values.encode(pieces, forKey: .pieces)
        try values.encodeIfPresent(source.map { [$0.salt, $0.hash] }, forKey: .source)
    }

    /// Throws a `NetworkError` with code `invalidResumeData` for impossible values, and the decoder's own error for
    /// data in another form.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw NetworkError.invalidResumeData(
                "the resume data has version \(version), and only \(Self.version) can be read")
        }
        var fields = Fields()
        for field in try values.decode([[String]].self, forKey: .fields) {
            guard field.count == 2 else {
                throw NetworkError.invalidResumeData("a field in the resume data has no value")
            }
            fields.append(name: field[0], value: field[1])
        }
        let stored = try values.decode([StoredPiece].self, forKey: .pieces)
        guard stored.allSatisfy({ 0 <= $0.start && $0.start < $0.end }) else {
            throw NetworkError.invalidResumeData("a piece in the resume data is empty")
        }
        let source = try values.decodeIfPresent([[UInt8]].self, forKey: .source).map(Self.source)
        try self.init(
            checking: try values.decode(String.self, forKey: .url),
            HTTP.Method(try values.decode(String.self, forKey: .method)), fields,
            validator: try values.decodeIfPresent(String.self, forKey: .validator),
            completeLength: try values.decodeIfPresent(Int.self, forKey: .completeLength),
            partPath: try values.decode(String.self, forKey: .partPath),
            pieces: stored.map { Piece(range: $0.start..<$0.end, checksum: $0.checksum) }, source: source)
    }

    private static func source(_ parts: [[UInt8]]) throws -> ResumeSource {
        guard parts.count == 2, let source = ResumeSource(salt: parts[0], hash: parts[1]) else {
            throw NetworkError.invalidResumeData("the source in the resume data is invalid")
        }
        return source
    }
}

extension NetworkError {
    static func invalidResumeData(_ what: String) -> NetworkError {
        NetworkError(.invalidResumeData, "the download cannot be resumed: \(what)")
    }
}
