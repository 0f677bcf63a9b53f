/// What a Content-Type field says (RFC 9110 §8.3): type, subtype and parameters, names in lower case.
///
/// Reads what servers send: white space where the grammar has none is passed over, a parameter that is none is dropped.
/// A text without type or subtype is no media type.
package struct MediaType: Sendable, Hashable {
    /// `type/subtype`, in lower case.
    package let essence: String
    /// The first of each name counts, and of all the first `mostParameters`: each is compared with those before it.
    package let parameters: [Parameter]

    /// A media type has two or three of them.
    package static let mostParameters = 32

    package struct Parameter: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package init?(_ text: String) {
        var reader = MediaTypeReader(text)
        guard let essence = reader.essence() else { return nil }
        self.essence = essence
        var parameters: [Parameter] = []
        while parameters.count < Self.mostParameters, let parameter = reader.parameter() {
            guard !parameter.name.isEmpty, !parameters.contains(where: { $0.name == parameter.name }) else { continue }
            parameters.append(parameter)
        }
        self.parameters = parameters
    }

    package subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }
}

/// Goes through a Content-Type field once, from left to right.
private struct MediaTypeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func essence() -> String? {
        let type = word(until: UInt8(ascii: "/"), or: UInt8(ascii: ";"))
        guard !type.isEmpty, position < bytes.count, bytes[position] == UInt8(ascii: "/") else { return nil }
        position += 1
        let subtype = word(until: UInt8(ascii: ";"), or: UInt8(ascii: ","))
        return subtype.isEmpty ? nil : type + "/" + subtype
    }

    /// Nil at the end; one without a name for something that is no parameter.
    mutating func parameter() -> MediaType.Parameter? {
        while position < bytes.count, bytes[position] != UInt8(ascii: ";") { position += 1 }
        guard position < bytes.count else { return nil }
        position += 1
        let name = word(until: UInt8(ascii: "="), or: UInt8(ascii: ";"))
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
            return MediaType.Parameter(name: "", value: "")
        }
        position += 1
        skipSpace()
        let value = position < bytes.count && bytes[position] == UInt8(ascii: "\"") ? quoted() : plain()
        return MediaType.Parameter(name: name, value: value)
    }

    private mutating func word(until end: UInt8, or otherEnd: UInt8) -> String {
        let start = position
        while position < bytes.count, bytes[position] != end, bytes[position] != otherEnd { position += 1 }
        return text(start..<position).lowercased()
    }

    private mutating func plain() -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ";") { position += 1 }
        return text(start..<position)
    }

    private mutating func quoted() -> String {
        var value: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
            value.append(bytes[position])
            position += 1
        }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private func text(_ range: Range<Int>) -> String {
        var range = range
        while let first = range.first, Self.isSpace(bytes[first]) { range = (first + 1)..<range.upperBound }
        while let last = range.last, Self.isSpace(bytes[last]) { range = range.lowerBound..<last }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
