internal import DunlinTypes

/// What a server answers to the handshake of a WebSocket (RFC 6455 §4.2.2).
enum WebSocketAcceptance {
    /// The fields that go with a 101, beside Upgrade and Connection; `fields` replace those with the same name.
    static func fields(answering request: Fields, _ fields: Fields) -> Fields {
        let key = request["Sec-WebSocket-Key"] ?? ""
        var accepted = fields
        guard !fields.contains("Sec-WebSocket-Accept") else { return accepted }
        do throws(AuthorityError) {
            let hash = try Digest.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            accepted.append(name: "Sec-WebSocket-Accept", value: PEM.base64(hash))
        } catch {
            // Without its hash, the client refuses the answer.
        }
        return accepted
    }
}
