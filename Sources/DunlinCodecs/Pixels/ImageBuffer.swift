public import DunlinTypes

/// A picture in memory: rows of pixels from top to bottom, four bytes a pixel: red, green, blue, alpha.
///
/// It is a value: a copy shares the pixels until one of the two is changed. Samples are those of the file, in the
/// colour space of `colorProfile`, or usually sRGB if there is none; Dunlin converts no colours.
public struct ImageBuffer: Sendable {
    /// The effect of a pixel's alpha on its other three samples.
    public enum Alpha: Sendable, Hashable {
        /// The colour is independent of alpha.
        case straight
        /// The colour is multiplied by alpha: no sample is greater than alpha.
        case premultiplied
    }

    public let width: Int
    public let height: Int
    public let alpha: Alpha
    /// Whether all pixels are known to be opaque. Then `straight` and `premultiplied` are the same.
    public let isOpaque: Bool
    /// The pixels for each point on the screen: 2 for a picture that is shown at half its size. It changes no pixel.
    public var scale = 1.0
    /// The file's ICC profile, unchanged; nil if it had none.
    public var colorProfile: Bytes?
    private(set) var storage: [UInt8]

    /// The bytes from the beginning of a row to that of the next.
    public var stride: Int { width * 4 }
    /// The bytes of all rows: what the picture takes in memory.
    public var byteCount: Int { storage.count }
    public var size: ImageSize { ImageSize(width: width, height: height) }

    /// Creates a picture of the given pixels; nil unless there are four bytes for each of at least one pixel.
    public init?(
        width: Int, height: Int, pixels: [UInt8], alpha: Alpha = .straight, isOpaque: Bool = false, scale: Double = 1,
        colorProfile: Bytes? = nil
    ) {
        let size = ImageSize(width: width, height: height)
        guard width > 0, height > 0, size.pixels <= Int.max / 4, pixels.count == size.pixels * 4 else { return nil }
        self.init(size, pixels, alpha, isOpaque: isOpaque)
        self.scale = scale
        self.colorProfile = colorProfile
    }

    /// Creates a picture of pixels that are known to match the size.
    init(_ size: ImageSize, _ pixels: [UInt8], _ alpha: Alpha, isOpaque: Bool) {
        width = size.width
        height = size.height
        self.alpha = alpha
        self.isOpaque = isOpaque
        storage = pixels
    }

    /// All pixels, row after row.
    public var span: Span<UInt8> {
        storage.span
    }

    /// The pixels of a row; traps if there is no such row.
    @_lifetime(borrow self)
    public func row(_ number: Int) -> Span<UInt8> {
        storage.span.extracting(number * stride..<(number + 1) * stride)
    }

    /// All pixels as an array, without a copy.
    public var pixels: [UInt8] { storage }

    public borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.span.withUnsafeBytes(body)
    }

    /// Returns the same pixels with a scale and a profile.
    func carrying(scale: Double, profile: Bytes?) -> ImageBuffer {
        var copy = self
        copy.scale = scale
        copy.colorProfile = profile
        return copy
    }
}

extension ImageBuffer: Equatable, CustomStringConvertible, CustomReflectable {
    /// Compares what is shown: pixels and size, the meaning of alpha, scale and profile.
    public static func == (left: ImageBuffer, right: ImageBuffer) -> Bool {
        left.size == right.size && left.storage == right.storage && left.scale == right.scale
            && (left.alpha == right.alpha || left.isOpaque && right.isOpaque) && left.colorProfile == right.colorProfile
    }

    public var description: String { "\(size) pixels" }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension ImageBuffer {
    /// One pixel.
    public struct Pixel: Sendable, Hashable, CustomStringConvertible {
        public var red: UInt8
        public var green: UInt8
        public var blue: UInt8
        public var alpha: UInt8

        public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }

        public var description: String { "(\(red), \(green), \(blue), \(alpha))" }
    }

    /// The pixel at a column and a row, from the top left; traps if it is outside the picture.
    public subscript(column: Int, row: Int) -> Pixel {
        precondition(column >= 0 && column < width && row >= 0 && row < height)
        let start = row * stride + column * 4
        return Pixel(storage[start], storage[start + 1], storage[start + 2], storage[start + 3])
    }
}
