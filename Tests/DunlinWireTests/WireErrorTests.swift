import DunlinWire
import Testing

@Suite struct `Wire error` {
    static let all: [WireError] = [
        .receivedNothing, .truncatedHead, .truncatedBody, .headTooLarge(limit: 1), .lineTooLong(limit: 1),
        .tooManyFields(limit: 1), .tooManyInterimResponses(limit: 1), .chunkLineTooLong(limit: 1),
        .chunkExtensionsTooLarge(limit: 1), .trailersTooLarge(limit: 1), .tooManyTrailers(limit: 1),
        .invalidStatusLine, .unsupportedVersion, .invalidStatusCode, .bareLineFeed, .bareCarriageReturn,
        .controlCharacter, .emptyFieldName, .invalidFieldName, .whitespaceBeforeColon, .missingColon, .foldedLine,
        .invalidContentLength, .conflictingContentLengths, .unknownTransferCoding, .emptyTransferEncoding,
        .repeatedChunkedCoding, .chunkedCodingNotLast, .transferEncodingInHTTP10, .invalidChunkSize,
        .chunkSizeOverflow, .invalidChunkExtension, .invalidChunkLineEnd, .missingChunkEnd, .invalidMethod,
        .invalidTarget, .targetUnfitForMethod, .invalidHost, .repeatedHost, .invalidRequestFieldName(beginning: "X"),
        .invalidRequestFieldValue(name: "A"), .contentLengthContradictsBody, .transferEncodingContradictsBody,
        .unsupportedConnectionOption, .bodyNotAllowed, .secretInTrace, .negativeLength, .forbiddenTrailer(name: "A"),
    ]

    @Test func `a wire error says in one sentence of its own what was wrong`() {
        let sentences = Self.all.map(\.description)
        #expect(Set(sentences).count == Self.all.count)
        for sentence in sentences {
            #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true)
            #expect(sentence != "The message is malformed.")
        }
    }

    @Test func `a wire error is of one kind at most`() {
        #expect(Self.all.count(where: \.isTruncation) == 3)
        #expect(Self.all.count(where: \.isLimit) == 8)
        #expect(Self.all.count(where: \.isRequest) == 14)
        for error in Self.all {
            #expect([error.isTruncation, error.isLimit, error.isRequest].count(where: \.self) <= 1)
        }
    }
}
