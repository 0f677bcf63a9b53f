/// The formats that Dunlin knows by their first bytes.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case png = "PNG"
    case jpeg = "JPEG"
    case webp = "WebP"
    case gif = "GIF"
    case bmp = "BMP"
    /// Icons and cursors of Windows.
    case ico = "ICO"
    /// Its size can be read, its pixels cannot.
    case tiff = "TIFF"
    /// Its size can be read, its pixels cannot.
    case avif = "AVIF"
    /// Its size can be read, its pixels cannot.
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
