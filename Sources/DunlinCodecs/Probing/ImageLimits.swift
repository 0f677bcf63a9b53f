/// How much a picture may ask for before it is refused. All of it is compared before anything is decoded.
///
/// The defaults let through what cameras and designers make, and keep a small file from taking the memory of a machine.
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

    /// Pixels of a picture, or of the canvas of an animation. 64 Mi by default, 256 MiB as RGBA.
    public var pixels = 64 << 20
    /// Frames of an animation. 10,000 by default.
    public var frames = 10_000
    /// Pixels of all frames of an animation together, each as large as the canvas: what decoding costs in time. 4 Gi by
    /// default, which is nine minutes of 640 x 480 at 25 frames a second.
    public var animationPixels = 4 << 30
    /// Bytes of colour profile and EXIF. 4 MiB by default; a profile seldom has more than 3.
    public var metadataBytes = 4 << 20
    /// Memory of one decode: the pixels, and what the decoder itself needs for them, as far as the header tells.
    /// 512 MiB by default.
    public var decodeBytes = 512 << 20

    public init() {}

    func check(_ kind: Kind, _ value: Int) throws(ImageError) {
        let limit =
            switch kind {
            // With more than a terapixel the sums would not fit that are made of it.
            case .pixels: min(pixels, 1 << 40)
            case .frames: frames
            case .animationPixels: animationPixels
            case .metadataBytes: metadataBytes
            case .decodeBytes: decodeBytes
            }
        if value > limit { throw .limitExceeded(kind, value: value, limit: limit) }
    }
}
