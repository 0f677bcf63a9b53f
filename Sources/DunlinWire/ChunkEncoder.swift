public import DunlinTypes

/// A request body in chunks (RFC 9112 §7.1).
public enum ChunkEncoder {
    /// Appends the line before a chunk's data; nothing for a size of zero or less, which would end the body.
    public static func appendHeader(ofSize size: Int, into buffer: inout [UInt8]) {
        if size <= 0 { return }
        var shift = (Int.bitWidth - 1 - size.leadingZeroBitCount) & ~3
        while shift >= 0 {
            buffer.append(Hex.digit(UInt8(truncatingIfNeeded: (size &>> shift) & 0xF)))
            shift -= 4
        }
        appendSuffix(into: &buffer)
    }

    /// Appends what follows a chunk's data.
    public static func appendSuffix(into buffer: inout [UInt8]) {
        buffer.append(Octets.cr)
        buffer.append(Octets.lf)
    }

    /// Appends a whole chunk; nothing for an empty one.
    public static func append(_ chunk: Bytes, into buffer: inout [UInt8]) {
        if chunk.isEmpty { return }
        appendHeader(ofSize: chunk.count, into: &buffer)
        chunk.withUnsafeBytes { buffer.append(contentsOf: $0) }
        appendSuffix(into: &buffer)
    }

    /// Appends the last chunk, the trailers and the end of the message. If it throws, the buffer is unchanged.
    public static func appendEnd(trailers: Fields = Fields(), into buffer: inout [UInt8]) throws(WireError) {
        try trailers.bytes.withUnsafeBufferPointer { bytes throws(WireError) in
            for entry in trailers.entries {
                try RequestCheck.field(bytes, entry)
                if TrailerReader.isForbidden(bytes, entry.name) {
                    throw .forbiddenTrailer(name: RequestCheck.text(bytes, entry.name))
                }
            }
            buffer.append(contentsOf: "0\r\n".utf8)
            for entry in trailers.entries {
                buffer.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[entry.name]))
                buffer.append(contentsOf: ": ".utf8)
                buffer.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[Octets.trimmed(bytes, entry.value)]))
                appendSuffix(into: &buffer)
            }
            appendSuffix(into: &buffer)
        }
    }
}
