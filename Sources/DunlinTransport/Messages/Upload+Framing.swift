internal import DunlinTypes
internal import DunlinWire

extension Upload {
    /// A part of a body, framed as one chunk.
    static func framed(_ chunk: Bytes) -> Bytes {
        var framed: [UInt8] = []
        framed.reserveCapacity(chunk.count + 20)
        ChunkEncoder.append(chunk, into: &framed)
        return Bytes(framed)
    }
}

extension NetworkError.Code {
    /// Whether the request's own body is at fault.
    var blamesTheBody: Bool { self == .bodyLengthMismatch || self == .fileUnreadable }
}
