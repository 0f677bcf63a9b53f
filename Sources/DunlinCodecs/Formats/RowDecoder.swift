internal import DunlinTypes

/// A picture on its way from bytes to pixels, some rows at a time, so that whoever drives it may stop in between.
protocol RowDecoder: ~Copyable {
    /// What comes out; known from the beginning, and within the limits.
    var size: ImageSize { get }
    /// What is done to the pixels by the decoder itself.
    var alpha: ImageBuffer.Alpha { get }
    var hasAlpha: Bool { get }
    var profile: Bytes? { get }
    /// Whether it needs no room for its pixels: it brings them along in the end.
    var hasOwnPixels: Bool { get }

    /// Decodes about so many rows more into a picture; false once it is complete, and every byte of it was written.
    /// The input is the same in every call.
    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool
}

extension RowDecoder where Self: ~Copyable {
    var hasOwnPixels: Bool { false }
}

/// What the decoders in C return.
enum CodecStatus: Int32 {
    case complete = 0
    case more = 1
    case truncated = 2
    case damaged = 3
    case noMemory = 4
    /// There is more to do, and others may have to have their turn.
    case paused = 5

    /// Whether there is more to do.
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
    /// Calls with where the bytes begin, and how many there are.
    func withPointer<Result>(_ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
        withUnsafeBytes { body($0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
    }
}

extension [UInt8] {
    /// Room for pixels. Where all of them will be written it is as the allocator left it: zeroing it takes a tenth of
    /// the time in which a large JPEG is decoded.
    static func room(for size: ImageSize, isZeroed: Bool) -> [UInt8] {
        let count = size.pixels * 4
        if isZeroed { return [UInt8](repeating: 0, count: count) }
        return [UInt8](unsafeUninitializedCapacity: count) { _, initialized in initialized = count }
    }

    /// Calls with where the bytes begin.
    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<UInt8>?) -> Result) -> Result {
        withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}
