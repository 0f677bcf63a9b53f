internal import DunlinTypes

/// What is to be done for a picture, decided by its header alone: at which size it is decoded, what is done to it
/// afterwards, and how much memory all of that takes.
struct DecodePlan: Sendable {
    let info: ImageInfo
    let options: ImageDecoder.Options
    let limits: ImageLimits
    /// Eighths of its size at which a JPEG is decoded.
    let eighths: Int
    /// What the decoder makes.
    let decoded: ImageSize
    /// What the decoded picture is resized to, before it is turned.
    let target: ImageSize
    /// Memory, as far as the header tells.
    let bytes: Int

    /// Throws for what cannot be decoded, and for what takes more memory than the limit.
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
        // libwebp multiplies alpha in where it writes; for the others there is a copy for a while.
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

    /// libwebp makes each pixel of all those that it covers, which leaves enough for a better filter at twice the size.
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
