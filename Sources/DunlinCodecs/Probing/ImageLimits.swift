/// Limits of what a picture may ask for, checked before anything is decoded.
///
/// The defaults accept pictures from cameras and designers, and keep a small file from using up a machine's memory.
public struct ImageLimits: Sendable, Hashable {
    /// A limit, as errors name it.
    public enum Kind: String, Sendable, Hashable {
        case pixels, frames, animationPixels, metadataBytes, decodeBytes

        var noun: String {
            switch self {
            case .pixels: "pixels"
            case .frames: "frames"
            case .animationPixels: "pixels in all frames"
            case .metadataBytes: "bytes of metadata"
            case .decodeBytes: "bytes of memory to decode it"
            }
        }
    }

    /// The pixels of a picture, or of an animation's canvas. 64 Mi by default, 256 MiB as RGBA.
    public var pixels = 64 << 20
    /// The frames of an animation. 10,000 by default.
    public var frames = 10_000
    /// The pixels of all frames of an animation, each as large as the canvas: the cost in time. 4 Gi by default, which
    /// is nine minutes of 640 x 480 at 25 frames a second.
    public var animationPixels = 4 << 30
    /// The bytes of colour profile and EXIF. 4 MiB by default; a profile rarely has more than 3.
    public var metadataBytes = 4 << 20
    /// The memory of one decode, in bytes: the pixels, and what the decoder needs for them, as far as the header tells.
    /// 512 MiB by default.
    public var decodeBytes = 512 << 20

    public init() {}

    func check(_ kind: Kind, _ value: Int) throws(ImageError) {
        let limit =
            switch kind {
            // Beyond a terapixel, sums would overflow.
            case .pixels: min(pixels, 1 << 40)
            case .frames: frames
            case .animationPixels: animationPixels
            case .metadataBytes: metadataBytes
            case .decodeBytes: decodeBytes
            }
        if value > limit { throw .limitExceeded(kind, value: value, limit: limit) }
    }
}
