internal import DunlinTypes

/// A picture's properties, from its header, without decoding.
public struct ImageInfo: Sendable, Hashable {
    public enum ColorModel: Sendable, Hashable {
        case gray
        case rgb
        /// Each pixel is the index of a colour in a palette.
        case indexed
        /// Four inks, as for a printing press.
        case cmyk
        /// The header that was read does not say.
        case unknown
    }

    public let format: ImageFormat
    /// The size as stored: for an animation the canvas, for an ICO its largest picture.
    public internal(set) var size: ImageSize
    /// The number of frames that `ImageDecoder.frames` gives: 1 for a still picture, and for an animated PNG, of which
    /// Dunlin decodes only the still picture. Nil if the header that was read does not say.
    public internal(set) var frameCount: Int? = 1
    /// How often an animation is shown; 0 means for ever. Nil if it is not animated, or does not say.
    public internal(set) var loopCount: Int?
    public internal(set) var orientation = ImageOrientation.upright
    /// Whether some pixels may not be opaque.
    public internal(set) var hasAlpha = false
    /// The bits of each stored sample; with a palette, of its colours, not of the indices. Nil if unknown.
    public internal(set) var bitsPerComponent: Int? = 8
    public internal(set) var colorModel = ColorModel.rgb
    /// The bytes of colour profile and EXIF, as stored.
    public internal(set) var metadataBytes = 0
    var details = Details()

    /// The size when shown: width and height are swapped if the orientation says so.
    public var displaySize: ImageSize { orientation.swapsSides ? size.transposed : size }
    public var isAnimated: Bool { frameCount ?? 1 > 1 }

    init(_ format: ImageFormat, _ size: ImageSize) {
        self.format = format
        self.size = size
    }

    /// Properties that only the format's decoder needs.
    struct Details: Sendable, Hashable {
        /// The colour profile of JPEG and WebP, which store it unchanged.
        var profile: Bytes?
        /// The memory that the library needs for a decode beside the pixels, at full size.
        var workingBytes = 0
        /// Whether a WebP is lossless.
        var isLossless = false
        /// The pixels of all frames beyond the area of as many canvases: they are read, though never seen.
        var unseenPixels = 0
        /// The unseen pixels of the first frame.
        var unseenInFirst = 0
        /// Whether a GIF or WebP is decoded as an animation.
        var isAnimation = false
        /// The range of an ICO's picture.
        var range = 0..<0
        /// A feature that Dunlin cannot decode, though it decodes the format.
        var unsupported: String?
    }
}
