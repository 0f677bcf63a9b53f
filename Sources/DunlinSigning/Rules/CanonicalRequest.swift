package import Dunlin

/// A request as it is signed: the same text on both sides, however the request was written.
///
/// It knows neither keys nor times, and reads no body: it is told what to sign in the body's place.
package struct CanonicalRequest: Sendable {
    /// What the signature says of the body if it is not in it.
    package static let unsigned = "UNSIGNED-PAYLOAD"
    /// What it says if each chunk of the body has a signature of its own.
    package static let chunks = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    /// The hash of no bytes.
    package static let noContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    package let bytes: Bytes
    /// The signed fields' names, sorted: `host;x-amz-date`.
    package let names: String

    /// Creates one of a path and a query in canonical form, the fields to sign, and the body's hash or what is in its
    /// place.
    package init(method: HTTP.Method, path: String, query: String, fields: Fields, payload: String) {
        let signed = Self.canonical(fields)
        names = signed.map(\.name).joined(separator: ";")
        var text = Array("\(method)\n\(path)\n\(query)\n".utf8)
        for (name, value) in signed { text += Array(name.utf8) + [UInt8(ascii: ":")] + value + [UInt8(ascii: "\n")] }
        bytes = Bytes(text + Array("\n\(names)\n\(payload)".utf8))
    }

    /// Names in lower case and sorted; the values of one name as a list, each without spaces around it, and with one
    /// where there were several.
    private static func canonical(_ fields: Fields) -> [(name: String, value: [UInt8])] {
        var values: [String: [[UInt8]]] = [:]
        for field in fields.raw {
            let words = field.value.array.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = String(decoding: field.name.array, as: UTF8.self).lowercased()
            values[name, default: []].append(Array(words.joined(separator: [UInt8(ascii: " ")])))
        }
        return values.sorted { $0.key < $1.key }
            .map { ($0.key, Array($0.value.joined(separator: [UInt8(ascii: ",")]))) }
    }
}
