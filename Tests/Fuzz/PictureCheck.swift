import DunlinCodecs
import DunlinTypes

/// What holds for every picture, whoever made it: it is decoded or a typed error, within the limits, twice the same.
enum PictureCheck {
    private static let mostPixels = 100_000
    private static let mostFrames = 20

    /// What an input violates that is decoded if it is of one of these formats.
    static func violation(of input: [UInt8], _ formats: Set<ImageFormat>) -> String? {
        let bytes = Bytes(input)
        guard let format = ImageFormat(sniffing: bytes), formats.contains(format) else { return nil }
        return waiting { await violation(of: bytes) } ?? nil
    }

    private static let decoder = {
        var limits = ImageLimits()
        limits.pixels = mostPixels
        limits.decodeBytes = 64 << 20
        limits.metadataBytes = 1 << 16
        limits.animationPixels = 100 * mostPixels
        return ImageDecoder(limits: limits, queue: DecodeQueue(decodes: 2, bytes: 64 << 20))
    }()

    private static func violation(of bytes: Bytes) async -> String? {
        do {
            guard let info = try? decoder.info(of: bytes) else {
                return try await isRefused(bytes) ? nil : "decoded without a header"
            }
            if info.size.pixels > mostPixels { return "more pixels than the limit" }
            if let violation = try await wholeViolation(of: bytes, info) { return violation }
            return try await framesViolation(of: bytes, info)
        } catch {
            return "\(error), which is no ImageError"
        }
    }

    private static func isRefused(_ bytes: Bytes) async throws -> Bool {
        try await picture(of: bytes, .init()) == nil
    }

    /// Nil for a typed error.
    private static func picture(of bytes: Bytes, _ options: ImageDecoder.Options) async throws -> ImageBuffer? {
        do {
            return try await decoder.decode(bytes, options)
        } catch is ImageError {
            return nil
        }
    }

    private static func wholeViolation(of bytes: Bytes, _ info: ImageInfo) async throws -> String? {
        let strict = try await picture(of: bytes, .init())
        var options = ImageDecoder.Options()
        options.allowsTruncated = true
        let tolerant = try await picture(of: bytes, options)
        options.alpha = .premultiplied
        options.fitting = ImageSize(width: 7, height: 5)
        let small = try await picture(of: bytes, options)
        if let strict {
            if strict.size != info.displaySize { return "another size than its header's" }
            if tolerant != strict { return "otherwise when it may be truncated" }
            if small == nil { return "not to be had smaller" }
        }
        if let small {
            if small.size != info.displaySize.fitting(ImageSize(width: 7, height: 5)) { return "another small size" }
            if !isPremultiplied(small) { return "colours beyond their alpha" }
        }
        if !info.hasAlpha, let strict, !strict.isOpaque { return "not opaque without alpha" }
        return nil
    }

    private static func isPremultiplied(_ picture: ImageBuffer) -> Bool {
        (0..<picture.height).allSatisfy { y in
            (0..<picture.width).allSatisfy { x in
                let pixel = picture[x, y]
                return max(pixel.red, pixel.green, pixel.blue) <= pixel.alpha
            }
        }
    }

    private static func framesViolation(of bytes: Bytes, _ info: ImageInfo) async throws -> String? {
        var count = 0
        do {
            for try await frame in decoder.frames(of: bytes) {
                if frame.picture.size != info.displaySize { return "a frame of another size" }
                if frame.index != count { return "frames out of order" }
                if info.isAnimated, frame.duration < .milliseconds(11) { return "a frame of no duration" }
                count += 1
                if count == mostFrames { break }
            }
        } catch is ImageError {}
        return count > info.frameCount ?? 0 ? "more frames than its header says" : nil
    }
}
