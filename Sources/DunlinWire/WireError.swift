import DunlinTypes

/// What is wrong with received bytes, or with a request that was to be sent.
///
/// No case contains a field's value or anything else that could be secret.
public enum WireError: Error, Sendable, Hashable {
    // The stream ended.
    /// The stream ended before the first byte of a response: the peer may not have seen the request.
    case receivedNothing
    case truncatedHead
    case truncatedBody

    // A limit was exceeded.
    case headTooLarge(limit: Int)
    case lineTooLong(limit: Int)
    case tooManyFields(limit: Int)
    case tooManyInterimResponses(limit: Int)
    case chunkLineTooLong(limit: Int)
    case chunkExtensionsTooLarge(limit: Int)
    case trailersTooLarge(limit: Int)
    case tooManyTrailers(limit: Int)
    case tooManyMarks

    // The status line.
    case invalidStatusLine
    case unsupportedVersion
    case invalidStatusCode

    // Field lines, in a head or in trailers.
    case bareLineFeed
    case bareCarriageReturn
    case controlCharacter
    case emptyFieldName
    case invalidFieldName
    case whitespaceBeforeColon
    case missingColon
    case foldedLine

    // The status and the request.
    case unaskedPart

    // Where the body ends.
    case invalidContentLength
    case conflictingContentLengths
    case unknownTransferCoding
    case emptyTransferEncoding
    case repeatedChunkedCoding
    case chunkedCodingNotLast
    case transferEncodingInHTTP10

    // Chunks.
    case invalidChunkSize
    case chunkSizeOverflow
    case invalidChunkExtension
    case invalidChunkLineEnd
    case missingChunkEnd

    // Requests, before a byte of them is sent.
    case invalidMethod
    case invalidTarget
    case targetUnfitForMethod
    case invalidHost
    case repeatedHost
    /// A field name is invalid. The beginning is limited to valid characters and a length, since a value put in place
    /// of a name may be secret.
    case invalidRequestFieldName(beginning: String)
    case invalidRequestFieldValue(name: String)
    case contentLengthContradictsBody
    case transferEncodingContradictsBody
    case unsupportedConnectionOption
    case bodyNotAllowed
    case secretInTrace
    case negativeLength
    case forbiddenTrailer(name: String)
}

extension WireError {
    /// Whether one of Dunlin's limits was exceeded; what the peer sent may have been valid.
    public var isLimit: Bool {
        switch self {
        case .headTooLarge, .lineTooLong, .tooManyFields, .tooManyInterimResponses, .chunkLineTooLong,
            .chunkExtensionsTooLarge, .trailersTooLarge, .tooManyTrailers, .tooManyMarks:
            true
        default: false
        }
    }

    /// The name in `WireLimits` of the limit that was exceeded, if a session's settings have it too; nil for one that
    /// they have not, and for other errors.
    public var setting: String? {
        switch self {
        case .headTooLarge: "headBytes"
        case .lineTooLong(let limit): limit == Fields.longestName ? nil : "lineBytes"
        case .tooManyFields: "fieldCount"
        case .tooManyInterimResponses: "interimResponses"
        case .trailersTooLarge: "trailerBytes"
        default: nil
        }
    }

    /// Whether the stream ended before the message did.
    public var isTruncation: Bool {
        switch self {
        case .receivedNothing, .truncatedHead, .truncatedBody: true
        default: false
        }
    }

    /// Whether the request was refused before a byte of it was written.
    public var isRequest: Bool {
        switch self {
        case .invalidMethod, .invalidTarget, .targetUnfitForMethod, .invalidHost, .repeatedHost,
            .invalidRequestFieldName, .invalidRequestFieldValue, .contentLengthContradictsBody,
            .transferEncodingContradictsBody, .unsupportedConnectionOption, .bodyNotAllowed, .secretInTrace,
            .negativeLength, .forbiddenTrailer:
            true
        default: false
        }
    }
}
