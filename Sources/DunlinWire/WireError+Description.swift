internal import DunlinTypes

extension WireError: CustomStringConvertible {
    /// A sentence without any field's value.
    public var description: String {
        endDescription ?? limitDescription ?? headDescription ?? framingDescription ?? requestDescription
    }

    private var endDescription: String? {
        switch self {
        case .receivedNothing: "The connection ended before the first byte of a response."
        case .truncatedHead: "The connection ended within the response's head."
        case .truncatedBody: "The connection ended before the response's body was complete."
        default: nil
        }
    }

    private var limitDescription: String? {
        switch self {
        case .headTooLarge(let limit): "The response's head is longer than the limit of \(limit) bytes."
        case .lineTooLong(let limit): "A line of the response is longer than the limit of \(limit) bytes."
        case .tooManyFields(let limit): "The response's head has more than the limit of \(limit) fields."
        case .tooManyInterimResponses(let limit): "More than the limit of \(limit) interim responses came in a row."
        case .chunkLineTooLong(let limit): "A chunk's first line is longer than the limit of \(limit) bytes."
        case .chunkExtensionsTooLarge(let limit): "The body's chunk extensions exceed the limit of \(limit) bytes."
        case .trailersTooLarge(let limit): "The trailers are longer than the limit of \(limit) bytes."
        case .tooManyMarks: "A field's value has more than \(MarkRun.longest) combining marks in a row, a fixed limit."
        case .tooManyTrailers(let limit): "The body ends with more than the limit of \(limit) trailer fields."
        default: nil
        }
    }

    private var headDescription: String? {
        switch self {
        case .invalidStatusLine: "The response does not begin with an HTTP/1 status line."
        case .unsupportedVersion: "The response speaks a major version of HTTP other than 1."
        case .invalidStatusCode: "The response's status is not a number from 100 to 999."
        case .unaskedPart: "The response has a part (206) of what was asked for as a whole."
        case .bareLineFeed: "A line ends with a line feed without a carriage return before it."
        case .bareCarriageReturn: "A carriage return is not followed by a line feed."
        case .controlCharacter: "A line contains a control character."
        case .emptyFieldName: "A field has no name."
        case .invalidFieldName: "A field's name contains a character that names may not have."
        case .whitespaceBeforeColon: "There is whitespace between a field's name and its colon."
        case .missingColon: "A field line has no colon."
        case .foldedLine: "A field line begins with whitespace, a form of folding that is obsolete."
        default: nil
        }
    }

    private var framingDescription: String? {
        switch self {
        case .invalidContentLength: "Content-Length is not a whole number that 63 bits can hold."
        case .conflictingContentLengths: "Content-Length is given more than once, with different values."
        case .unknownTransferCoding: "Transfer-Encoding names a coding that was not asked for."
        case .emptyTransferEncoding: "Transfer-Encoding names no coding."
        case .repeatedChunkedCoding: "Transfer-Encoding names the chunked coding twice."
        case .chunkedCodingNotLast: "Transfer-Encoding names a coding after chunked, which must be the last."
        case .transferEncodingInHTTP10: "An HTTP/1.0 response has a Transfer-Encoding, which that version lacks."
        case .invalidChunkSize: "A chunk's size is not a hexadecimal number."
        case .chunkSizeOverflow: "A chunk's size is more than 63 bits can hold."
        case .invalidChunkExtension: "A chunk's extension is malformed."
        case .invalidChunkLineEnd: "A chunk's first line does not end with carriage return and line feed."
        case .missingChunkEnd: "A chunk's data is not followed by carriage return and line feed."
        default: nil
        }
    }

    private var requestDescription: String {
        switch self {
        case .invalidMethod: "The request's method is empty or has a character that methods may not have."
        case .invalidTarget: "The request's target is empty or has a character that targets may not have."
        case .targetUnfitForMethod: "The request's target does not have a form that goes with its method."
        case .invalidHost: "The request's host is not a valid host with an optional port."
        case .repeatedHost: "The request has more than one Host field."
        case .invalidRequestFieldName(""): "The name of one of the fields is empty, too long or not valid."
        case .invalidRequestFieldName(let start):
            "A field's name is not valid; it begins with \(start)."
        case .invalidRequestFieldValue(let name): "The value of the field \(name) has a control character."
        case .contentLengthContradictsBody: "The request's Content-Length field does not agree with its body."
        case .transferEncodingContradictsBody: "The request's Transfer-Encoding field does not agree with its body."
        case .unsupportedConnectionOption:
            "Connection may say close, keep-alive or TE, and TE trailers; another protocol is asked for by `upgrade`."
        case .bodyNotAllowed: "A request of this method cannot have a body."
        case .secretInTrace: "A TRACE cannot have a secret field, since the server sends its fields back."
        case .negativeLength: "The length of the request's body is negative."
        case .forbiddenTrailer(let name): "The field \(name) may not be sent as a trailer."
        default: "The message is malformed."
        }
    }
}
