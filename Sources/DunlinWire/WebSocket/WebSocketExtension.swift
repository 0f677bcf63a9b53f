package import DunlinTypes

/// One element of Sec-WebSocket-Extensions: a name and its parameters (RFC 6455 §9.1).
package struct WebSocketExtension: Sendable, Hashable {
    package struct Parameter: Sendable, Hashable {
        package var name: String
        /// Nil if the parameter has none, which is not the same as an empty one.
        package var value: String?

        package init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    package var name: String
    package var parameters: [Parameter]

    package init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// The element as it is written.
    package var text: String {
        parameters.reduce(name) { text, parameter in
            "\(text); \(parameter.name)" + (parameter.value.map { "=\($0)" } ?? "")
        }
    }

    /// The elements of all fields; nil if one is malformed.
    ///
    /// A value is a token, or a quoted string that holds one. Blanks may stand around `;` and `,` only, and elements of
    /// the list may be empty (RFC 9110 §5.6.1.2).
    package static func list(_ values: [Bytes]) -> [WebSocketExtension]? {
        var list: [WebSocketExtension] = []
        for value in values {
            var reader = ExtensionReader(value)
            guard reader.readList(into: &list) else { return nil }
        }
        return list
    }
}

/// Reads one field, from its first byte to its last.
private struct ExtensionReader {
    private let bytes: Bytes
    private var position = 0

    init(_ bytes: Bytes) {
        self.bytes = bytes
    }

    /// Returns false if the field is malformed.
    mutating func readList(into list: inout [WebSocketExtension]) -> Bool {
        while true {
            skipBlanks()
            if position == bytes.count { return true }
            if take(Octets.comma) { continue }
            guard let name = token(), let parameters = parameters() else { return false }
            list.append(WebSocketExtension(name, parameters))
            guard position == bytes.count || take(Octets.comma) else { return false }
        }
    }

    /// All parameters up to the end of the element, and the blanks behind them.
    private mutating func parameters() -> [WebSocketExtension.Parameter]? {
        var parameters: [WebSocketExtension.Parameter] = []
        while true {
            skipBlanks()
            guard take(UInt8(ascii: ";")) else { return parameters }
            skipBlanks()
            guard let name = token() else { return nil }
            guard take(UInt8(ascii: "=")) else {
                parameters.append(.init(name))
                continue
            }
            guard let value = take(UInt8(ascii: "\"")) ? quotedToken() : token() else { return nil }
            parameters.append(.init(name, value))
        }
    }

    private mutating func token() -> String? {
        let start = position
        while position < bytes.count, TokenCharacters.contains(bytes[position]) { position += 1 }
        return start == position ? nil : String(bytes[start..<position])
    }

    /// What is left of a quoted string, which must hold a token.
    private mutating func quotedToken() -> String? {
        var content: [UInt8] = []
        while position < bytes.count {
            if take(UInt8(ascii: "\"")) { return content.isEmpty ? nil : String(Bytes(content)) }
            if take(UInt8(ascii: "\\")), position == bytes.count { return nil }
            guard TokenCharacters.contains(bytes[position]) else { return nil }
            content.append(bytes[position])
            position += 1
        }
        return nil
    }

    private mutating func skipBlanks() {
        while position < bytes.count, Octets.isBlank(bytes[position]) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }
}
