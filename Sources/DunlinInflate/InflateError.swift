/// Why a compressed body could not be decoded.
///
/// No case contains any part of the body.
public enum InflateError: Error, Sendable, Hashable {
    /// The data is damaged or not in the declared format; the text says what is wrong.
    case corrupt(String)
    /// The body ended before the compressed data did.
    case truncated
    /// Something other than zeros follows the compressed data.
    case trailingData
    /// There were more than `limit` decoded bytes for each byte from the wire.
    case ratioExceeded(limit: Int)
    case sizeExceeded(limit: Int)
    case tooManyCodings(limit: Int)
    /// There was no memory for tables.
    case outOfMemory
    /// The coding can only be decoded, and was to be encoded.
    case decodingOnly(coding: String)

    /// Whether one of Dunlin's limits was exceeded; what the peer sent may have been valid.
    public var isLimit: Bool {
        switch self {
        case .ratioExceeded, .sizeExceeded, .tooManyCodings: true
        default: false
        }
    }

    /// The name of the limit that was exceeded, as a session's settings have it; nil for one that they have not, and
    /// for other errors.
    public var setting: String? {
        switch self {
        case .ratioExceeded: "decodingRatio"
        case .sizeExceeded: "decodedBytes"
        default: nil
        }
    }
}

extension InflateError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .corrupt(let fault): "The compressed body is damaged: \(fault)."
        case .truncated: "The body ended before its compressed data was complete."
        case .trailingData: "Something follows the end of the body's compressed data."
        case .ratioExceeded(let limit):
            "The body has more than \(limit) decoded bytes for each byte received, which is the limit."
        case .sizeExceeded(let limit): "The body decompresses to more than the limit of \(limit) bytes."
        case .tooManyCodings(let limit): "The body has more than the limit of \(limit) content codings."
        case .decodingOnly(let coding): "The coding \(coding) can only be decoded, not encoded."
        case .outOfMemory: "There is not enough memory to compress or decompress."
        }
    }
}
