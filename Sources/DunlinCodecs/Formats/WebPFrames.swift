internal import CWebP
internal import DunlinTypes

/// The frames of an animated WebP, by libwebp's own decoder of animations. It decodes a frame in one step.
struct WebPFrames: ~Copyable {
    private let animation: OpaquePointer
    private let size: ImageSize
    private var end = 0

    private init(_ animation: OpaquePointer, _ size: ImageSize) {
        self.animation = animation
        self.size = size
    }

    static func open(_ input: Bytes, _ info: ImageInfo, _ alpha: ImageBuffer.Alpha) throws(ImageError) -> WebPFrames {
        var header = dunlin_webp_animation_header()
        let animation = input.withPointer { dunlin_webp_animation_open($0, $1, alpha == .premultiplied, &header) }
        guard let animation else { throw .damaged(.webp, fault: "libwebp does not accept it, or it ends early") }
        let opened = WebPFrames(animation, info.size)
        guard Int(header.width) == info.size.width, Int(header.height) == info.size.height,
            Int(header.frames) <= info.frameCount ?? 1
        else { throw .damaged(.webp, fault: "its decoded size differs from its header's") }
        return opened
    }

    deinit { dunlin_webp_animation_close(animation) }

    /// Returns the next frame and how long it is shown, in milliseconds; nil after the last.
    mutating func next() throws(ImageError) -> (pixels: [UInt8], milliseconds: Int)? {
        var pixels = [UInt8].room(for: size, isZeroed: false)
        var ending: Int32 = 0
        let animation = animation
        let status = pixels.withPointer { dunlin_webp_animation_next(animation, $0, &ending) }
        guard try CodecStatus.check(status, .webp, "libwebp does not accept one of its frames") else { return nil }
        defer { end = Int(ending) }
        return (pixels, max(0, Int(ending) - end))
    }
}
