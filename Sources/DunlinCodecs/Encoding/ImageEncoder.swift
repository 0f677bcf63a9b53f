internal import DunlinTypes

/// Writes pictures as PNG and JPEG, on the default pool and some rows at a time; ends with `CancellationError` when the
/// task is cancelled, and with `ImageError` otherwise.
///
/// What is written is upright: there is no EXIF in it.
public struct ImageEncoder: Sendable, Hashable {
    /// How hard PNG is compressed, from 0 (not at all) to 9 (slow); 6 by default. It is never lossy.
    public var pngLevel = 6
    /// How much of a JPEG is kept, from 1 to 100; 85 by default. From 90 on colours are kept as finely as brightness.
    public var jpegQuality = 85
    /// Whether a JPEG can be shown coarsely before all of it has come.
    public var isProgressive = false
    /// What a JPEG has behind pixels that are not opaque, since it knows no alpha; white by default.
    public var background = ImageBuffer.Pixel(255, 255, 255)
    /// Whether the picture's colour profile is written too. Without it others see colours that differ from the ones
    /// meant, if there is one.
    public var keepsColorProfile = true

    public init() {}

    func profile(of picture: ImageBuffer) -> Bytes {
        keepsColorProfile ? picture.colorProfile ?? .empty : .empty
    }
}
