internal import FoundationEssentials

extension HTTP.JSON {
    /// Decodes a value from JSON in UTF-8, or in UTF-16 or 32, which is recognised by the first bytes.
    ///
    /// Throws a `DecodingError` of the same kind and with the same coding path as Foundation's decoder. For text that
    /// is not JSON it is `dataCorrupted`, with an `HTTP.JSON.SyntaxError` as the underlying error. Its description says
    /// where in the document the error is and what was found there.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from text: Bytes) throws -> Value {
        if let decoder, repeatedKeys == .last { return try decoder().decode(type, from: Data(text)) }
        let index: JSONIndex
        do throws(SyntaxError) {
            index = try self.index(of: text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "the text is not valid JSON", underlyingError: error))
        }
        // A decoder of the user's own would not report duplicate keys.
        if let decoder { return try decoder().decode(type, from: Data(text)) }
        let document = JSONDocument(index, self)
        let root = JSONValueDecoder(document, 0, in: nil, at: .none, keepsKeys: document.keepsKeys)
        return try root.decode(type)
    }

    /// Decodes a value from text in memory, such as the `data` of an event.
    @_disfavoredOverload
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from text: String) throws -> Value {
        try decode(type, from: Bytes(text))
    }

    private func index(of text: Bytes) throws(SyntaxError) -> JSONIndex {
        try JSONIndex.of(
            try text.inUTF8(), limits, refusesRepeatedKeys: repeatedKeys == .refused, hiding: secretFields)
    }
}
