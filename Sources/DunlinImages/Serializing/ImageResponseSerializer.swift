public import Dunlin

/// A serializer for pictures.
///
/// ```swift
/// let response = try await client.get("cat.jpg", as: .image)
/// let pixels = try await response.value.decoded()
/// ```
///
/// It accepts the types of the formats that Dunlin decodes: AFNetworking's ten, `image/webp`, and other names that
/// servers use for JPEG, PNG and icons: `image/jpg`, `image/pjpeg`, `image/x-png`, `image/vnd.microsoft.icon`.
/// AFNetworking's ten alone are `HTTP.ContentTypes.afnetworkingImages`. The format is recognised by the first bytes and
/// not by the type.
///
/// Content that cannot be decoded is always an error: a `NetworkError` with code `imageDecodingFailed`, with an
/// `ImageError` as the underlying one. For TIFF, AVIF and HEIF, that error names the format.
public struct ImageResponseSerializer: AdjustableSerializer, Hashable {
    /// When pixels are decoded.
    public enum Inflation: String, Sendable, Hashable, Codable {
        /// When the response has come, if the picture is a PNG or JPEG within `InflationLimits`; otherwise as with
        /// `lazy`. It runs where the request's caller runs, or in parallel if the body is large.
        case eager
        /// When they are first needed.
        case lazy
    }

    /// The limits for decoding at once: not animated, not in ink colours, and no larger than this. The defaults are
    /// AFNetworking's.
    public struct InflationLimits: Sendable, Hashable, Codable {
        /// Width by height.
        public var pixels = 1024 * 1024
        public var bitsPerComponent = 8

        public init() {}

        public init(pixels: Int) {
            self.pixels = pixels
        }
    }

    public var rules: HTTP.ResponseRules
    /// The number of pixels for each point of the pictures.
    public var scale: Double
    public var inflation: Inflation
    public var inflationLimits = InflationLimits()
    /// The limits beyond which a picture is refused.
    public var limits = ImageLimits()

    public init(scale: Double = 1, inflation: Inflation = .eager, rules: HTTP.ResponseRules = .images) {
        (self.scale, self.inflation, self.rules) = (scale, inflation, rules)
    }

    /// Returns a copy for servers that declare other types, such as `application/octet-stream`: it accepts any type, if
    /// the first bytes are those of a picture.
    public func sniffing() -> Self {
        var copy = self
        copy.rules.contentTypes = nil
        copy.rules.requiresContentType = false
        return copy
    }

    public var accept: String? { "image/*" }

    public func serialize(_ response: HTTP.WholeResponse) throws -> ResponseImage {
        if response.body.isEmpty {
            throw NetworkError(
                .noContent, "the response has no content to decode a picture from", requestMayHaveBeenSent: true,
                response: response.head)
        }
        do throws(ImageError) {
            return try image(of: response.body)
        } catch {
            throw NetworkError(decoding: error, of: response.head)
        }
    }

    private func image(of bytes: Bytes) throws(ImageError) -> ResponseImage {
        let decoder = ImageDecoder(limits: limits)
        let info = try decoder.info(of: bytes)
        guard info.format.isDecodable else { throw .unsupported(info.format, what: "only its size can be read") }
        var options = ImageDecoder.Options()
        options.scale = scale
        let picture = inflation == .eager && isSmall(info) ? try decoder.decodeAtOnce(bytes, options) : nil
        return ResponseImage(bytes, info, scale: scale, limits: limits, picture: picture)
    }

    private func isSmall(_ info: ImageInfo) -> Bool {
        guard info.format == .png || info.format == .jpeg, !info.isAnimated, info.colorModel != .cmyk else {
            return false
        }
        return info.size.pixels <= inflationLimits.pixels
            && info.bitsPerComponent ?? 0 <= inflationLimits.bitsPerComponent
    }
}

/// Encodes everything except `limits`, which belong to the program that decodes.
extension ImageResponseSerializer: Codable {
    private enum Keys: CodingKey {
        case rules, scale, inflation, inflationLimits
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(rules, forKey: .rules)
        try container.encode(scale, forKey: .scale)
        try container.encode(inflation, forKey: .inflation)
        try container.encode(inflationLimits, forKey: .inflationLimits)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.init(
            scale: try container.decode(Double.self, forKey: .scale),
            inflation: try container.decode(Inflation.self, forKey: .inflation),
            rules: try container.decode(HTTP.ResponseRules.self, forKey: .rules))
        inflationLimits = try container.decode(InflationLimits.self, forKey: .inflationLimits)
    }
}

extension ResponseSerializer where Self == ImageResponseSerializer {
    public static var image: ImageResponseSerializer { ImageResponseSerializer() }
}

extension HTTP.ContentTypes {
    /// The types that AFNetworking's image serializer accepts.
    public static let afnetworkingImages: Self = [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap",
    ]

    /// AFNetworking's types, WebP, and other names that servers use for formats which Dunlin decodes.
    public static let images = afnetworkingImages.union([
        "image/webp", "image/jpg", "image/pjpeg", "image/x-png", "image/vnd.microsoft.icon",
    ])
}

extension HTTP.ResponseRules {
    /// Accepts pictures with status 2xx.
    public static let images = Self(contentTypes: .images)
}

extension NetworkError.Code {
    /// The content is not a picture, or one that cannot be decoded; the underlying `ImageError` says why.
    public static let imageDecodingFailed = Self("imageDecodingFailed")
}

extension NetworkError {
    init(decoding error: ImageError, of head: ResponseHead?) {
        self.init(
            .imageDecodingFailed, "\(error)", phase: .receive, requestMayHaveBeenSent: true, underlying: error,
            response: head)
    }
}
