extension RequestBody {
    /// A multipart form (`multipart/form-data`, RFC 7578), read while it is sent: files are opened when their turn
    /// comes.
    ///
    /// Its length is known beforehand if every part's is. It can be sent again from the beginning, unless a part says
    /// otherwise. Without parts, it is an empty URL-encoded form.
    ///
    /// Throws a `NetworkError` with code `invalidPart` for a file that is missing or not regular, a field that cannot
    /// be sent, or an invalid boundary.
    public static func multipart(
        boundary: String? = nil, @MultipartPart.Builder _ parts: () throws -> [MultipartPart]
    ) throws -> RequestBody {
        try multipart(try parts(), boundary)
    }

    /// A multipart form with parameters before the parts: one field for each pair, by the rules of queries. Data is
    /// sent unchanged, null as an empty value.
    public static func multipart(
        parameters: HTTP.Parameters, style: HTTP.ParameterStyle = HTTP.ParameterStyle(), boundary: String? = nil,
        @MultipartPart.Builder _ parts: () throws -> [MultipartPart] = { [] }
    ) throws -> RequestBody {
        let fields = try ParameterPairs(parameters, style).pairs.map { pair in
            if case .data(let bytes) = pair.value { return MultipartPart.data(pair.key, bytes, contentType: nil) }
            return MultipartPart.field(pair.key, try style.text(of: pair) ?? "")
        }
        return try multipart(fields + (try parts()), boundary)
    }

    private static func multipart(_ parts: [MultipartPart], _ boundary: String?) throws -> RequestBody {
        if parts.isEmpty { return .form([:]) }
        let boundary = try boundary.map(checked) ?? randomBoundary()
        let form = try MultipartForm(parts, boundary: boundary)
        let type = "multipart/form-data; boundary=\(boundary)"
        if let bytes = form.bytes { return .bytes(bytes, contentType: type) }
        let chunks = MultipartChunks(form: form)
        if form.isReplayable { return .replayable(length: form.length, contentType: type) { chunks } }
        return .stream(chunks, length: form.length, contentType: type)
    }

    /// A random boundary in AFNetworking's form, which no file contains by accident.
    private static func randomBoundary() -> String {
        "Boundary+" + Hex.text(UInt64.random(in: .min ... .max), count: 16, uppercase: true)
    }

    /// The boundary, if it has only those characters of RFC 2046 §5.1.1 that need no quotes.
    private static func checked(_ boundary: String) throws -> String {
        let marks = "'+_-.".utf8
        let isFit = boundary.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || marks.contains(byte)
        }
        guard isFit, (1...70).contains(boundary.utf8.count) else {
            let shown = VisibleText.of(boundary, upTo: 100)
            throw NetworkError(
                .invalidPart,
                "the boundary \"\(shown)\" must have 1 to 70 characters, only letters, digits and ' + _ - .")
        }
        return boundary
    }
}
