internal import DunlinTypes

/// A decoder that works some rows at a time, so that the caller may stop in between.
protocol RowDecoder: ~Copyable {
    /// The size of the result; known from the beginning, and within the limits.
    var size: ImageSize { get }
    /// How the decoder itself represents alpha.
    var alpha: ImageBuffer.Alpha { get }
    var hasAlpha: Bool { get }
    var profile: Bytes? { get }
    /// Whether it needs no buffer for its pixels, as it brings them along at the end.
    var hasOwnPixels: Bool { get }

    /// Decodes about `rows` more rows; returns false once the picture is complete, with every byte written. The input
    /// must be the same in every call.
    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool
}

extension RowDecoder where Self: ~Copyable {
    var hasOwnPixels: Bool { false }
}

/// The results of the decoders in C.
enum CodecStatus: Int32 {
    case complete = 0
    case more = 1
    case truncated = 2
    case damaged = 3
    case noMemory = 4
    /// There is more to do, but others may need their turn.
    case paused = 5

    /// Returns whether there is more to do.
    static func check(
        _ status: Int32, _ format: ImageFormat, _ fault: @autoclosure () -> String
    ) throws(ImageError) -> Bool {
        switch CodecStatus(rawValue: status) {
        case .complete: return false
        case .more, .paused: return true
        case .truncated: throw .truncated(format)
        case .noMemory: throw .outOfMemory
        case .damaged, nil: throw .damaged(format, fault: fault())
        }
    }
}

extension Bytes {
    /// Calls `body` with a pointer to the bytes, and their number.
    func withPointer<Result>(_ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
        withUnsafeBytes { body($0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
    }
}

extension [UInt8] {
    /// Returns memory for pixels. Unless `isZeroed`, it is uninitialised: zeroing takes a tenth of the time of decoding
    /// a large JPEG.
    static func room(for size: ImageSize, isZeroed: Bool) -> [UInt8] {
        let count = size.pixels * 4
        if isZeroed { return [UInt8](repeating: 0, count: count) }
        return [UInt8](unsafeUninitializedCapacity: count) { _, initialized in initialized = count }
    }

    /// Calls `body` with a pointer to the bytes.
    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<UInt8>?) -> Result) -> Result {
        withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}
