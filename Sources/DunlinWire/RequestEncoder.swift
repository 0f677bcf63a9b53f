public import DunlinTypes

/// Encodes a request's head as bytes (RFC 9112 §3).
///
/// Everything is checked before a byte is written, so an error leaves no trace. Host comes first, then the caller's
/// fields in order, then the field that announces the body. Blanks around a value are not sent.
///
/// - Host is the origin's authority, or the target for CONNECT. A caller's own Host replaces it, once and valid.
/// - Content-Length and Transfer-Encoding are set by this encoder; a caller's are accepted if they agree.
/// - Connection may only say close, keep-alive or TE. It may say upgrade, and there may be a field Upgrade, if the
///   caller can take another protocol.
/// - TE may only say trailers. Connection then names it, by a line of this encoder's if the caller's does not.
/// - CONNECT and TRACE have no body, and TRACE has no secret fields.
///
/// It must not know how the connection is made, nor what other fields mean.
public enum RequestEncoder {
    typealias Text = UnsafeBufferPointer<UInt8>

    /// Appends the head. If it throws, the buffer is unchanged. An empty buffer is allocated once, with `room` for what
    /// the caller will add. The request may offer another protocol if it `mayUpgrade`.
    @discardableResult
    public static func encode(
        _ head: RequestHead, framing: RequestFraming, into buffer: inout [UInt8], room: Int = 0,
        mayUpgrade: Bool = false
    ) throws(WireError) -> RequestTraits {
        // What the fields are written from: prepared lines, or the text that the entries refer to.
        if let prepared = head.prepared {
            return try encode(head, framing, fields: prepared.lines, as: .prepared, into: &buffer, room)
        }
        let lines = mayUpgrade ? RequestPlan.FieldLines.uncheckedWithUpgrade : .unchecked
        return try encode(head, framing, fields: head.fields.bytes, as: lines, into: &buffer, room)
    }

    @inline(__always)
    private static func encode(
        _ head: RequestHead, _ framing: RequestFraming, fields text: borrowing [UInt8],
        as lines: RequestPlan.FieldLines, into buffer: inout [UInt8], _ room: Int
    ) throws(WireError) -> RequestTraits {
        let method = head.method.rawValue.utf8.span
        let target = head.target.utf8.span
        let authority = head.origin.authority.utf8.span
        return try method.withUnsafeBufferPointer { method throws(WireError) in
            try target.withUnsafeBufferPointer { target throws(WireError) in
                try authority.withUnsafeBufferPointer { authority throws(WireError) in
                    try text.span.withUnsafeBufferPointer { text throws(WireError) in
                        let plan = try RequestPlan(head, framing, (method, target, authority), fields: text, as: lines)
                        plan.write(head.fields.entries, into: &buffer, room: room)
                        return plan.traits
                    }
                }
            }
        }
    }

    /// Checks fields that many requests will share, and encodes their lines. Nil if one of them must be checked or
    /// written together with the request; then each request's encoding does everything.
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
