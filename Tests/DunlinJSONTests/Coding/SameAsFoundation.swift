import Dunlin
import FoundationEssentials
import Testing

/// What a decoder makes of a text: the value as text, or the kind and path of the refusal.
struct Reading: Equatable, CustomStringConvertible {
    var description: String

    init(_ read: () throws -> Any) {
        do {
            description = "\(try read())"
        } catch let error as DecodingError {
            description = Self.kind(of: error)
        } catch {
            description = "\(type(of: error))"
        }
    }

    private static func kind(of error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            "[" + context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".") + "]"
        }
        return switch error {
        case .keyNotFound(let key, let context): "no key \(key.stringValue) \(path(context))"
        case .valueNotFound(let type, let context): "no value \(type) \(path(context))"
        case .typeMismatch(let type, let context): "no \(type) \(path(context))"
        case .dataCorrupted(let context): "corrupted \(path(context))"
        @unknown default: "unknown"
        }
    }
}

/// Expects that both decoders make the same of a text.
func expectSame<Value: Decodable>(
    _ type: Value.Type, _ text: String, _ json: HTTP.JSON = .standard, _ decoder: JSONDecoder = JSONDecoder(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let ours = Reading { try json.decode(type, from: Bytes(text)) }
    let theirs = Reading { try decoder.decode(type, from: Data(text.utf8)) }
    // Of a number that does not fit Foundation says that the text is no JSON, and not where.
    let isCorrupted = theirs.description == "corrupted []" && ours.description.hasPrefix("corrupted ")
    #expect(
        isCorrupted || ours == theirs, "\(type) of \(text): \(ours), by Foundation \(theirs)",
        sourceLocation: sourceLocation)
}

/// Expects that both encoders write the same, with sorted members, and that Foundation reads ours as the same value.
func expectSameWritten(
    _ value: some Encodable, _ json: HTTP.JSON = .standard, _ encoder: JSONEncoder = JSONEncoder(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    var json = json
    json.format.order = .sorted
    encoder.outputFormatting.insert(.sortedKeys)
    func text(_ write: () throws -> Bytes) -> String {
        do { return String(try write()) } catch { return "\(type(of: error))" }
    }
    let ours = text { try json.encode(value) }
    #expect(ours == text { Bytes(try encoder.encode(value)) }, sourceLocation: sourceLocation)
}
