internal import DunlinTypes

/// What the header of a picture says of it, which is read without decoding.
public struct ImageInfo: Sendable, Hashable {
    public enum ColorModel: Sendable, Hashable {
        case gray
        case rgb
        /// Each pixel is the number of a colour in a palette.
        case indexed
        /// Inks, as for a printing press.
        case cmyk
        /// The header that was read does not tell.
        case unknown
    }

    public let format: ImageFormat
    /// Pixels as they are stored; of an animation the canvas, of an ICO the largest picture in it.
    public internal(set) var size: ImageSize
    /// How many frames `ImageDecoder.frames` gives. 1 for a picture that stands still, and for an animated PNG, of
    /// which Dunlin decodes the still picture only. Nil if the header that was read does not tell.
    public internal(set) var frameCount: Int? = 1
    /// How often an animation is shown: 0 is for ever. Nil if it is none, or does not say.
    public internal(set) var loopCount: Int?
    public internal(set) var orientation = ImageOrientation.upright
    /// Whether there may be pixels that are not opaque.
    public internal(set) var hasAlpha = false
    /// Bits of each sample as it is stored; of a palette's colours, not of its numbers. Nil if unknown.
    public internal(set) var bitsPerComponent: Int? = 8
    public internal(set) var colorModel = ColorModel.rgb
    /// Bytes of colour profile and EXIF, as they are stored.
    public internal(set) var metadataBytes = 0
    var details = Details()

    /// The size that is shown: with width and height in each other's place where the orientation says so.
    public var displaySize: ImageSize { orientation.swapsSides ? size.transposed : size }
    public var isAnimated: Bool { frameCount ?? 1 > 1 }

    init(_ format: ImageFormat, _ size: ImageSize) {
        self.format = format
        self.size = size
    }

    /// What only the decoder of the format asks for.
    struct Details: Sendable, Hashable {
        /// Of JPEG and WebP, whose profiles are stored as they are.
        var profile: Bytes?
        /// Bytes that the library keeps for each decode beside the pixels, at full size.
        var workingBytes = 0
        /// WebP that is stored without loss.
        var isLossless = false
        /// Pixels of its frames beyond as many canvases: they are read, though nobody sees them.
        var unseenPixels = 0
        /// The same of the first frame.
        var unseenInFirst = 0
        /// Of a BMP, an icon or a still picture in a container.
        var isAnimation = false
        /// Of an ICO: where the picture lies.
        var range = 0..<0
        /// What Dunlin cannot decode in a format that it decodes as a rule.
        var unsupported: String?
    }
}
