package import DunlinTypes

/// The client's side of the opening handshake (RFC 6455 §4.1): what the request says, and whether the answer opens a
/// connection.
///
/// Rules:
/// 1. The answer has the status 101, Upgrade with websocket and nothing else, and Connection with the option upgrade.
/// 2. Sec-WebSocket-Accept occurs once and is the hash that belongs to the key, so that no server opens a connection
///    which does not know the protocol.
/// 3. What was not offered is refused: a subprotocol, an extension, or a parameter of one. The server chooses one
///    subprotocol or none.
///
/// The hash is given in, since it is made elsewhere; so are the key's bytes, which nobody may predict. One value serves
/// one handshake; a request that is sent again is another one. It must not know how the request is sent.
package struct WebSocketHandshake: Sendable {
    /// What both sides agreed on.
    package struct Agreement: Sendable, Hashable {
        package var subprotocol: String?
        /// Nil if messages are not compressed.
        package var deflate: WebSocketDeflate?

        package init(subprotocol: String? = nil, deflate: WebSocketDeflate? = nil) {
            self.subprotocol = subprotocol
            self.deflate = deflate
        }
    }

    private var key: String
    private let subprotocols: [String]
    private let deflate: WebSocketDeflate.Offer?

    /// Creates a handshake with 16 random bytes.
    package init(
        key: Bytes, subprotocols: [String] = [], deflate: WebSocketDeflate.Offer? = nil
    ) throws(WebSocketHandshakeError) {
        guard key.count == 16 else { throw .invalidKey }
        let areTokens = subprotocols.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(TokenCharacters.contains) }
        guard areTokens, Set(subprotocols).count == subprotocols.count else { throw .invalidSubprotocol }
        self.key = Base64.encode(key)
        self.subprotocols = subprotocols
        self.deflate = deflate
    }

    /// Makes it another handshake, with another key.
    package mutating func renew(_ first: UInt64, _ second: UInt64) {
        key = withUnsafeBytes(of: (first, second)) { Base64.encode(Bytes(Array($0))) }
    }

    /// The one field that no other handshake has.
    package var keyField: Fields { ["Sec-WebSocket-Key": key] }

    /// The request's fields, beside Upgrade and Connection.
    package var fields: Fields {
        var fields: Fields = ["Sec-WebSocket-Version": "13"]
        fields.append(contentsOf: keyField)
        if !subprotocols.isEmpty {
            fields.append(name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", "))
        }
        if let deflate { fields.append(name: "Sec-WebSocket-Extensions", value: deflate.element.text) }
        return fields
    }

    /// What the server hashes by SHA-1 to prove that it knows the protocol.
    package var hashedText: Bytes { Bytes(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11") }

    /// Checks the server's answer; `hash` is the SHA-1 of `hashedText`.
    package func agreement(with head: ResponseHead, hash: Bytes) throws(WebSocketHandshakeError) -> Agreement {
        let fields = head.fields
        guard head.status == .switchingProtocols else {
            throw .notSwitched(head.status, versions: Self.versions(fields))
        }
        guard Self.elements(fields, "Upgrade") == ["websocket"] else { throw .wrongUpgrade }
        guard Self.elements(fields, "Connection").contains("upgrade") else { throw .missingConnectionUpgrade }
        let accepted = fields.rawValues(of: "Sec-WebSocket-Accept")
        guard accepted == [Bytes(Base64.encode(hash))] else { throw .wrongAccept }
        return Agreement(subprotocol: try subprotocol(fields), deflate: try deflate(fields))
    }

    private func subprotocol(_ fields: Fields) throws(WebSocketHandshakeError) -> String? {
        let chosen = fields.values(of: "Sec-WebSocket-Protocol")
        guard let first = chosen.first else { return nil }
        guard chosen.count == 1, !first.utf8.contains(Octets.comma) else { throw .severalSubprotocols }
        guard subprotocols.contains(first) else { throw .subprotocolNotOffered }
        return first
    }

    private func deflate(_ fields: Fields) throws(WebSocketHandshakeError) -> WebSocketDeflate? {
        guard let chosen = WebSocketExtension.list(fields.rawValues(of: "Sec-WebSocket-Extensions")) else {
            throw .malformedExtensions
        }
        guard let first = chosen.first else { return nil }
        guard let deflate, chosen.allSatisfy({ $0.name == WebSocketDeflate.name }) else { throw .extensionNotOffered }
        guard chosen.count == 1, let agreed = deflate.agreement(with: first.parameters) else { throw .invalidDeflate }
        return agreed
    }

    /// The elements of the lists in all fields with this name, in lower case.
    private static func elements(_ fields: Fields, _ name: String) -> [String] {
        fields.rawValues(of: name).flatMap { value in
            value.span.withUnsafeBufferPointer { bytes in
                var list = ListElements(bytes, 0..<bytes.count)
                var found: [String] = []
                while let element = list.next() {
                    // ASCII only: the letters of other alphabets have no place in these names.
                    let lowered = bytes[element].map { $0 &- 65 < 26 ? $0 | 0x20 : $0 }
                    found.append(String(decoding: lowered, as: UTF8.self))
                }
                return found
            }
        }
    }

    /// The versions that the server supports, by its own words; those that are none are left out.
    private static func versions(_ fields: Fields) -> [Int] {
        elements(fields, "Sec-WebSocket-Version").prefix(16).compactMap { text in
            text.utf8.count <= 3 && text.utf8.allSatisfy(Octets.isDigit) ? Int(text) : nil
        }
    }
}

extension WebSocketHandshake: CustomReflectable {
    /// An empty mirror: the key is secret until the server has answered it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
