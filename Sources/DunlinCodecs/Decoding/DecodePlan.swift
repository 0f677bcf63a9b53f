internal import DunlinTypes

/// The plan for decoding a picture, from its header alone: the size it is decoded at, the steps after that, and the
/// memory needed.
struct DecodePlan: Sendable {
    let info: ImageInfo
    let options: ImageDecoder.Options
    let limits: ImageLimits
    /// The scale, in eighths, at which a JPEG is decoded.
    let eighths: Int
    /// The size that the decoder produces.
    let decoded: ImageSize
    /// The size that the decoded picture is resized to, before it is turned.
    let target: ImageSize
    /// The memory needed, as far as the header tells, in bytes.
    let bytes: Int

    /// Creates a plan. Throws if the picture cannot be decoded, or takes more memory than the limit.
    init(_ info: ImageInfo, _ options: ImageDecoder.Options, _ limits: ImageLimits) throws(ImageError) {
        if let fault = info.details.unsupported { throw .unsupported(info.format, what: fault) }
        guard info.format.isDecodable else { throw .unsupported(info.format, what: "only its size can be read") }
        self.info = info
        self.options = options
        self.limits = limits
        target = try Self.target(info, options)
        let smaller = target == info.size ? nil : target
        eighths = info.format == .jpeg ? JPEGDecoder.eighths(of: info.size, for: smaller) : 8
        decoded =
            switch info.format {
            case .jpeg: JPEGDecoder.scaled(info.size, eighths: eighths)
            case .webp where !info.details.isAnimation: Self.scaledByWebP(info.size, for: smaller)
            default: info.size
            }
        // libwebp multiplies by alpha as it writes; the other formats need a copy for a while.
        let copies = options.alpha == .premultiplied && info.hasAlpha && info.format != .webp ? target.pixels * 4 : 0
        bytes =
            Self.bytes(info, decoded, target, turns: options.appliesOrientation && info.orientation != .upright)
            + copies
        try limits.check(.decodeBytes, bytes)
    }

    private static func target(_ info: ImageInfo, _ options: ImageDecoder.Options) throws(ImageError) -> ImageSize {
        guard let bounds = options.fitting else { return info.size }
        guard bounds.width > 0, bounds.height > 0 else { throw .invalidSize(bounds) }
        let isTurned = options.appliesOrientation && info.orientation.swapsSides
        return info.size.fitting(isTurned ? bounds.transposed : bounds)
    }

    /// Returns the size at which libwebp decodes. It averages all covered pixels, so twice the target leaves enough for
    /// a better filter.
    private static func scaledByWebP(_ size: ImageSize, for target: ImageSize?) -> ImageSize {
        guard let target, target.width * 2 < size.width, target.height * 2 < size.height else { return size }
        return ImageSize(width: target.width * 2, height: target.height * 2)
    }

    private static func bytes(
        _ info: ImageInfo, _ decoded: ImageSize, _ target: ImageSize, turns: Bool
    ) -> Int {
        var bytes = info.details.workingBytes + decoded.pixels * 4
        if target != decoded { bytes += ResizingRows.bytes(from: decoded, to: target) }
        if turns { bytes += target.pixels * 4 }
        return bytes
    }
}
