internal import DunlinTypes

/// Writes pictures as PNG and JPEG, on the default pool and some rows at a time; ends with `CancellationError` when the
/// task is cancelled, and with `ImageError` otherwise.
///
/// Pictures are written upright, without EXIF.
public struct ImageEncoder: Sendable, Hashable {
    /// How hard PNG is compressed, from 0 (not at all) to 9 (slow); 6 by default. It is never lossy.
    public var pngLevel = 6
    /// The quality of a JPEG, from 1 to 100; 85 by default. From 90 on colours are kept as finely as brightness.
    public var jpegQuality = 85
    /// Whether a JPEG is progressive: a coarse picture can be shown before all of it has come.
    public var isProgressive = false
    /// The background of a JPEG behind pixels that are not opaque, as it has no alpha; white by default.
    public var background = ImageBuffer.Pixel(255, 255, 255)
    /// Whether the picture's colour profile, if any, is written too. Without it, others see different colours.
    public var keepsColorProfile = true

    public init() {}

    func profile(of picture: ImageBuffer) -> Bytes {
        keepsColorProfile ? picture.colorProfile ?? .empty : .empty
    }
}
