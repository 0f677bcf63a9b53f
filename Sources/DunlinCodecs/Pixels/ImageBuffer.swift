public import DunlinTypes

/// A picture in memory: rows of pixels from top to bottom, four bytes a pixel: red, green, blue, alpha.
///
/// It is a value: a copy shares the pixels until one of the two is changed. Samples are as the file has them, in the
/// colour space that `colorProfile` describes, or sRGB as a rule where there is none; Dunlin converts no colours.
public struct ImageBuffer: Sendable {
    /// What the fourth byte of a pixel has done to the other three.
    public enum Alpha: Sendable, Hashable {
        /// Nothing: the colour is that of the pixel, however transparent it is.
        case straight
        /// The colour was multiplied with it: none of the three is greater than alpha.
        case premultiplied
    }

    public let width: Int
    public let height: Int
    public let alpha: Alpha
    /// Whether all pixels are known to be opaque. Then `straight` and `premultiplied` are the same.
    public let isOpaque: Bool
    /// Pixels for each point on the screen: 2 for a picture that is shown at half its size. It changes no pixel.
    public var scale = 1.0
    /// The ICC profile of the file, as it was there; nil if it had none.
    public var colorProfile: Bytes?
    private(set) var storage: [UInt8]

    /// Bytes from the beginning of a row to that of the next.
    public var stride: Int { width * 4 }
    /// Bytes of all rows: what the picture takes in memory.
    public var byteCount: Int { storage.count }
    public var size: ImageSize { ImageSize(width: width, height: height) }

    /// A picture of the given pixels. Nil if they are not four bytes for each of at least one pixel.
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

    /// A picture of pixels that are known to be as many as the size says.
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

    /// The same pixels with what is said of them beside.
    func carrying(scale: Double, profile: Bytes?) -> ImageBuffer {
        var copy = self
        copy.scale = scale
        copy.colorProfile = profile
        return copy
    }
}

extension ImageBuffer: Equatable, CustomStringConvertible, CustomReflectable {
    /// Compares what is shown: pixels and size, what alpha means, scale and profile.
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

    /// The pixel at a column and a row, from the top left; traps if there is none.
    public subscript(column: Int, row: Int) -> Pixel {
        precondition(column >= 0 && column < width && row >= 0 && row < height)
        let start = row * stride + column * 4
        return Pixel(storage[start], storage[start + 1], storage[start + 2], storage[start + 3])
    }
}
