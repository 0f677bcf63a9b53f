/// The formats that Dunlin knows by their first bytes.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case png = "PNG"
    case jpeg = "JPEG"
    case webp = "WebP"
    case gif = "GIF"
    case bmp = "BMP"
    /// Windows icons and cursors.
    case ico = "ICO"
    /// TIFF: the size can be read, but not the pixels.
    case tiff = "TIFF"
    /// AVIF: the size can be read, but not the pixels.
    case avif = "AVIF"
    /// HEIF: the size can be read, but not the pixels.
    case heif = "HEIF"

    /// Whether Dunlin can decode it, and not only tell its size.
    public var isDecodable: Bool {
        switch self {
        case .png, .jpeg, .webp, .gif, .bmp, .ico: true
        case .tiff, .avif, .heif: false
        }
    }

    public var description: String { rawValue }
}
