public import DunlinTypes

/// Decodes pictures, also untrusted ones: all that a header asks for is compared with limits before decoding, and
/// damage ends in a typed error.
///
/// Decoding runs on the default pool, wherever it is called from, some rows at a time. It ends with `CancellationError`
/// when the task is cancelled, and with `ImageError` otherwise.
public struct ImageDecoder: Sendable {
    public var limits: ImageLimits
    /// The queue where decodes wait for their turn; by default the one that the whole process shares.
    public var queue: DecodeQueue

    public init(limits: ImageLimits = ImageLimits(), queue: DecodeQueue = .shared) {
        self.limits = limits
        self.queue = queue
    }

    /// How a picture is decoded.
    public struct Options: Sendable, Hashable {
        /// How alpha is represented; `straight` by default, as most files store it.
        public var alpha = ImageBuffer.Alpha.straight
        /// Whether the pixels are turned as the file's EXIF says. Without that a picture is shown wrong, unless the
        /// program turns it.
        public var appliesOrientation = true
        /// Whether to return what could be decoded of a picture that ends early or is damaged after its header. The
        /// rest is transparent, or what the decoder makes of it. If nothing could be decoded, it is an error all the
        /// same.
        public var allowsTruncated = false
        /// The size to fit the picture into, as shown; it keeps its shape and is never enlarged. Nil for its own size.
        /// JPEG and WebP are decoded at a smaller scale for that, which takes less time and memory.
        public var fitting: ImageSize?
        /// The filter for resizing to `fitting`.
        public var filter = ImageBuffer.Filter.lanczos
        /// The scale of the result: pixels for each point.
        public var scale = 1.0

        public init() {}

        public init(fitting: ImageSize) {
            self.fitting = fitting
        }
    }

    /// Reads the header and compares it with the limits, decoding nothing. This also works for formats that cannot be
    /// decoded.
    public func info(of bytes: Bytes) throws(ImageError) -> ImageInfo {
        let info = try ImageInfo(of: bytes)
        try limits.check(.pixels, info.size.pixels + info.details.unseenInFirst)
        try limits.check(.metadataBytes, info.metadataBytes)
        return info
    }

    /// Decodes a picture, or the first frame of an animation.
    public func decode(_ bytes: Bytes, _ options: Options = Options()) async throws -> ImageBuffer {
        try await Work.onDefaultPool {
            let plan = try DecodePlan(try info(of: bytes), options, limits)
            return try await queue.admit(plan.bytes) { try await plan.picture(of: bytes) }
        }
    }

    /// Returns the frames of an animation in order, each composed with those before it, ready to be shown; a still
    /// picture has one. A frame is decoded only when it is asked for.
    public func frames(of bytes: Bytes, _ options: Options = Options()) -> ImageFrames {
        ImageFrames(decoder: self, bytes: bytes, options: options)
    }
}
