/// The error when a picture cannot be read, written or changed. No case carries any of its bytes.
public enum ImageError: Error, Sendable, Hashable {
    /// The bytes begin like no known format.
    case unknownFormat
    /// Dunlin knows the format but cannot decode it, or not this kind of it.
    case unsupported(ImageFormat, what: String)
    /// The bytes end before the picture does. `ImageDecoder.Options.allowsTruncated` accepts what there is.
    case truncated(ImageFormat)
    /// The bytes break the format's rules; `fault` says how.
    case damaged(ImageFormat, fault: String)
    /// The picture exceeds a limit, as found before decoding. It may be valid.
    case limitExceeded(ImageLimits.Kind, value: Int, limit: Int)
    /// The size is impossible for a picture: empty, or larger than the format allows.
    case invalidSize(ImageSize)
    /// There was not enough memory for the picture.
    case outOfMemory

    /// Whether one of Dunlin's limits was exceeded; the picture may have been valid.
    public var isLimit: Bool {
        if case .limitExceeded = self { true } else { false }
    }
}

extension ImageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownFormat: "The bytes are not a picture in a format that Dunlin knows."
        case .unsupported(let format, let what): "Dunlin does not decode this \(format) picture: \(what)."
        case .truncated(let format):
            "The \(format) picture ends early. `ImageDecoder.Options.allowsTruncated` decodes what there is."
        case .damaged(let format, let fault): "The \(format) picture is damaged: \(fault)."
        case .limitExceeded(let kind, let value, let limit):
            "The picture exceeds `ImageLimits.\(kind.rawValue)`: \(value) \(kind.noun), and the limit is \(limit)."
        case .invalidSize(let size): "A picture cannot have a size of \(size) pixels."
        case .outOfMemory: "There is not enough memory for the picture."
        }
    }
}
