import Dunlin
import FoundationEssentials

/// Types and texts that are made up, read and written by Foundation and by Dunlin: the same value or the same kind of
/// refusal at the same place. Where the two differ on purpose, the text is refused by Dunlin as no JSON.
enum FuzzJSON {
    /// The first bytes make the type, those after them the text; one in four texts is what the bytes say themselves.
    static func violation(of input: [UInt8]) -> String? {
        var choices = Choices(input)
        let settings = choices.next(16)
        let shape = Shape(&choices)
        let text: [UInt8]
        if settings & 3 == 3 {
            text = choices.rest
            // Of UTF-16 Foundation knows less.
            if text.contains(0) || text.first == 0xFE || text.first == 0xFF { return nil }
        } else {
            var writer = Text(choices)
            writer.value(fitting: shape)
            text = writer.bytes
        }
        return compare(shape, text, settings >> 2)
    }

    private static func compare(_ shape: Shape, _ text: [UInt8], _ settings: Int) -> String? {
        var json = HTTP.JSON()
        json.format = DynamicValue.JSONFormat(order: .sorted)
        let decoder = JSONDecoder()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        if settings & 1 == 1 {
            json.keys = .snakeCase
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            encoder.keyEncodingStrategy = .convertToSnakeCase
        }
        if settings & 2 == 2 {
            json.dates = .secondsSince1970
            decoder.dateDecodingStrategy = .secondsSince1970
            encoder.dateEncodingStrategy = .secondsSince1970
            json.nonFinite = .text(positiveInfinity: "a", negativeInfinity: "b", nan: "id")
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "a", negativeInfinity: "b", nan: "id")
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "a", negativeInfinity: "b", nan: "id")
        }
        json.userInfo[.shapes] = Shapes(shape)
        decoder.userInfo[.shapes] = Shapes(shape)
        let ours = result { try json.decode(AnyShaped.self, from: Bytes(text)).value }
        // Foundation trusts that nothing is nested so deep that it runs out of stack, and takes what is no JSON.
        if case .failure(let error) = ours, error.syntaxError != nil { return nil }
        let theirs = result { try decoder.decode(AnyShaped.self, from: Data(text)).value }
        if let difference = difference(ours, theirs, shape) {
            return "\(String(decoding: text, as: UTF8.self)): \(difference)"
        }
        guard case .success(let value) = ours else { return nil }
        return differenceWritten(value, json, encoder)
    }

    private static func differenceWritten(_ value: Shaped, _ json: HTTP.JSON, _ encoder: JSONEncoder) -> String? {
        let ours = result { String(try json.encode(Written(value: value))) }
        let theirs = result { String(decoding: try encoder.encode(Written(value: value)), as: UTF8.self) }
        switch (ours, theirs) {
        case (.success(let ours), .success(let theirs)) where ours == theirs: return nil
        case (.failure, .failure): return nil
        // A date that is no time: Foundation reads one by the names of such numbers, and refuses to write it.
        case (.success, .failure(let error)) where error is EncodingError: return nil
        default: return "written \(ours), by Foundation \(theirs)"
        }
    }

    private static func result<Value>(_ work: () throws -> Value) -> Result<Value, any Error> {
        Result { try work() }
    }

    private static func difference(
        _ ours: Result<Shaped, any Error>, _ theirs: Result<Shaped, any Error>, _ shape: Shape
    ) -> String? {
        switch (ours, theirs) {
        case (.success(let ours), .success(let theirs)) where ours == theirs: return nil
        case (.failure(let ours), .failure(let theirs)) where isSame(ours, theirs): return nil
        // Which member of a dictionary is read first is for Foundation to say.
        case (.failure, .failure) where shape.hasDictionary: return nil
        // Dunlin refuses what it would have to change: numbers that are not whole, bits that no byte has.
        case (.failure(let error), _) where isRefusedOnPurpose(error): return nil
        case (.failure, .failure(let error)) where error.isAboutText && shape.hasLongInteger: return nil
        // And takes a whole number for what it is however it is written.
        case (.success, .failure(let error)) where error.isAboutText: return shape.hasLongInteger ? nil : "read"
        default: return "read \(ours), by Foundation \(theirs)"
        }
    }

    /// Of the same kind and place. What does not fit in a number Foundation blames on the text, with an empty path.
    private static func isSame(_ ours: any Error, _ theirs: any Error) -> Bool {
        guard let ours = ours as? DecodingError, let theirs = theirs as? DecodingError else { return false }
        switch (ours, theirs) {
        case (.keyNotFound(let key, let ours), .keyNotFound(let other, let theirs)):
            return key.stringValue == other.stringValue && path(ours) == path(theirs)
        case (.valueNotFound(_, let ours), .valueNotFound(_, let theirs)),
            (.typeMismatch(_, let ours), .typeMismatch(_, let theirs)):
            return path(ours) == path(theirs)
        case (.dataCorrupted(let ours), .dataCorrupted(let theirs)):
            return theirs.codingPath.isEmpty || path(ours) == path(theirs)
        default: return false
        }
    }

    private static func path(_ context: DecodingError.Context) -> [String] {
        context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
    }

    private static func isRefusedOnPurpose(_ error: any Error) -> Bool {
        guard case .dataCorrupted(let context)? = error as? DecodingError else { return false }
        return context.debugDescription.hasPrefix("the number does not fit in")
            || context.debugDescription.hasPrefix("the text is not valid Base64")
    }
}

extension Error {
    /// Foundation's refusal of a text, or of a number in it.
    fileprivate var isAboutText: Bool {
        guard case .dataCorrupted(let context)? = self as? DecodingError else { return false }
        return context.codingPath.isEmpty
    }

    /// Why the text is no JSON at all.
    fileprivate var syntaxError: HTTP.JSON.SyntaxError? {
        guard case .dataCorrupted(let context)? = self as? DecodingError else { return nil }
        return context.underlyingError as? HTTP.JSON.SyntaxError
    }
}
