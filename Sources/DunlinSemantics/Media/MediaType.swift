/// The media type in a Content-Type field (RFC 9110 §8.3): type, subtype and parameters, names in lower case.
///
/// Reads what servers send: white space where the grammar has none is passed over, a parameter that is none is dropped.
/// A text without type or subtype is no media type.
package struct MediaType: Sendable, Hashable {
    /// The type and subtype, as `type/subtype` in lower case.
    package let essence: String
    /// The parameters. The first of each name counts, and only the first `mostParameters`, as each is compared with
    /// those before it.
    package let parameters: [Parameter]

    /// The limit of parameters; a media type has two or three.
    static let mostParameters = 32

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
    private var reader: ValueReader

    init(_ text: String) {
        reader = ValueReader(text)
    }

    mutating func essence() -> String? {
        let type = text(until: "/", or: ";").lowercased()
        guard !type.isEmpty, reader.take("/") else { return nil }
        let subtype = text(until: ";", or: ",").lowercased()
        return subtype.isEmpty ? nil : type + "/" + subtype
    }

    /// Reads a parameter; nil at the end, and one without a name for an invalid one.
    mutating func parameter() -> MediaType.Parameter? {
        _ = reader.takeAll { $0 != UInt8(ascii: ";") }
        guard reader.take(";") else { return nil }
        let name = text(until: "=", or: ";").lowercased()
        guard reader.take("=") else { return MediaType.Parameter(name: "", value: "") }
        reader.skipBlanks()
        let quoted = reader.quotedString(mayBeCut: true).map { String(decoding: $0, as: UTF8.self) }
        return MediaType.Parameter(name: name, value: quoted ?? text(until: ";", or: ";"))
    }

    /// Reads text without the blanks around it.
    private mutating func text(until end: Unicode.Scalar, or otherEnd: Unicode.Scalar) -> String {
        let (end, otherEnd) = (UInt8(ascii: end), UInt8(ascii: otherEnd))
        var text = reader.takeAll { $0 != end && $0 != otherEnd }.drop(while: ValueReader.isBlank)
        while let last = text.last, ValueReader.isBlank(last) { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
