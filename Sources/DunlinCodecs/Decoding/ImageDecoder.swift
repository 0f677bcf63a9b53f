public import DunlinTypes

/// Decodes pictures, whoever made them: everything a header asks for is compared with limits before anything is
/// decoded, and what is damaged ends in a typed error.
///
/// Decoding runs on the default pool, wherever it is called from, some rows at a time. It ends with `CancellationError`
/// when the task is cancelled, and with `ImageError` otherwise.
public struct ImageDecoder: Sendable {
    public var limits: ImageLimits
    /// Where decodes wait for their turn; by default all of the process wait in one queue.
    public var queue: DecodeQueue

    public init(limits: ImageLimits = ImageLimits(), queue: DecodeQueue = .shared) {
        self.limits = limits
        self.queue = queue
    }

    /// How a picture is decoded.
    public struct Options: Sendable, Hashable {
        /// What becomes of alpha; `straight` by default, as most files store it.
        public var alpha = ImageBuffer.Alpha.straight
        /// Whether the pixels are turned as the file's EXIF says. A picture is shown wrong without that, unless
        /// whoever shows it turns it.
        public var appliesOrientation = true
        /// Whether to take what could be decoded of a picture that ends early or is damaged behind its header. The rest
        /// is transparent, or what the decoder makes of it. A picture of which nothing came is an error all the same.
        public var allowsTruncated = false
        /// A size into which the picture is to fit, as it is shown, and keeps its shape; it is never enlarged. Nil for
        /// its own size. JPEG and WebP are decoded at a smaller scale for that, which takes less time and memory.
        public var fitting: ImageSize?
        /// How what `fitting` asks for is resized.
        public var filter = ImageBuffer.Filter.lanczos
        /// Of the picture that comes out: pixels for each point.
        public var scale = 1.0

        public init() {}

        public init(fitting: ImageSize) {
            self.fitting = fitting
        }
    }

    /// Reads the header, compares it with the limits, and decodes nothing. Also of formats whose pixels cannot be
    /// decoded.
    public func info(of bytes: Bytes) throws(ImageError) -> ImageInfo {
        let info = try ImageInfo(of: bytes)
        try limits.check(.pixels, info.size.pixels + info.details.unseenInFirst)
        try limits.check(.metadataBytes, info.metadataBytes)
        return info
    }

    /// Decodes a picture; of an animation the first frame.
    public func decode(_ bytes: Bytes, _ options: Options = Options()) async throws -> ImageBuffer {
        try await Work.away {
            let plan = try DecodePlan(try info(of: bytes), options, limits)
            return try await queue.admit(plan.bytes) { try await plan.picture(of: bytes) }
        }
    }

    /// The frames of an animation, one after the other, each composed with those before it as it is to be shown; one
    /// frame of a picture that stands still. Nothing is decoded before it is asked for.
    public func frames(of bytes: Bytes, _ options: Options = Options()) -> ImageFrames {
        ImageFrames(decoder: self, bytes: bytes, options: options)
    }
}
