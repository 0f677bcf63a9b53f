public import DunlinTypes

/// A request's head as bytes (RFC 9112 §3).
///
/// Knows: everything is checked before a byte is written, so a request that throws has left no trace. Host comes
/// first, then the caller's fields in their order, then the one that announces the body. Blanks around a value are
/// not part of it and are not sent.
///
/// - Host is the origin's authority, or the target for CONNECT. A caller's own Host replaces it, once and valid.
/// - Content-Length and Transfer-Encoding are this encoder's; a caller's are accepted if they say the same.
/// - Connection may only say close or keep-alive.
/// - CONNECT and TRACE have no body.
///
/// Must not know: how the connection is made, and what the fields it passes on mean.
public enum RequestEncoder {
    typealias Text = UnsafeBufferPointer<UInt8>

    /// Appends the head. The buffer is unchanged when it throws. An empty one is allocated once, with `room` for
    /// what the caller means to add.
    @discardableResult
    public static func encode(
        _ head: RequestHead, framing: RequestFraming, into buffer: inout [UInt8], room: Int = 0
    ) throws(WireError) -> RequestTraits {
        // What the fields are written from: prepared lines, or the text that entries are ranges of.
        if let prepared = head.prepared {
            return try encode(head, framing, prepared.lines, isPrepared: true, &buffer, room)
        }
        return try encode(head, framing, head.fields.bytes, isPrepared: false, &buffer, room)
    }

    @inline(__always)
    private static func encode(
        _ head: RequestHead, _ framing: RequestFraming, _ text: borrowing [UInt8], isPrepared: Bool,
        _ buffer: inout [UInt8], _ room: Int
    ) throws(WireError) -> RequestTraits {
        let method = head.method.rawValue.utf8.span
        let target = head.target.utf8.span
        let authority = head.origin.authority.utf8.span
        return try method.withUnsafeBufferPointer { method throws(WireError) in
            try target.withUnsafeBufferPointer { target throws(WireError) in
                try authority.withUnsafeBufferPointer { authority throws(WireError) in
                    try text.span.withUnsafeBufferPointer { text throws(WireError) in
                        let plan = try RequestPlan(
                            head, framing, method, target, authority, text, isPrepared: isPrepared)
                        plan.write(head.fields.entries, into: &buffer, room: room)
                        return plan.traits
                    }
                }
            }
        }
    }

    /// Checks fields that many requests will send alike, and encodes their lines. Nil if one of them is judged, or
    /// said, together with the request it goes out with: then each request's encoding does all of it.
    package static func prepare(_ fields: Fields) throws(WireError) -> PreparedFields? {
        var lines: [UInt8] = []
        var isPlain = true
        try fields.bytes.withUnsafeBufferPointer { bytes throws(WireError) in
            for entry in fields.entries {
                try RequestCheck.field(bytes, entry)
                isPlain = isPlain && !RequestPlan.isSpecial(entry, in: bytes)
                lines.append(contentsOf: bytes[entry.name])
                lines.append(contentsOf: ": ".utf8)
                lines.append(contentsOf: bytes[Octets.trimmed(bytes, entry.value)])
                lines.append(contentsOf: "\r\n".utf8)
            }
        }
        return isPlain ? PreparedFields(fields, lines: lines) : nil
    }
}
