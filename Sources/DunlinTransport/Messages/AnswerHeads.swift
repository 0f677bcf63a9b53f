internal import DunlinSemantics
internal import DunlinTypes
internal import DunlinWire

/// A final response head, the interim ones before it, and the bytes that came after it.
struct Answer: ~Copyable, Sendable {
    let parsed: ParsedHead
    let interim: [ResponseHead]
    let rest: Bytes
    /// When the last byte of the head came, or the request was sent, whichever was later.
    var at: HTTP.Instant
    /// Whether the request was not sent completely; then nothing may follow it on this connection.
    var requestWasCut = false
    /// The upload that is still sending the request, or was until the answer came.
    var upload: Upload?

    var head: ResponseHead { parsed.head }

    init(_ parsed: ParsedHead, after interim: [ResponseHead], rest: Bytes, at time: HTTP.Instant) {
        self.parsed = parsed
        self.interim = interim
        self.rest = rest
        at = time
    }
}

/// Collects the heads of one response.
struct AnswerHeads {
    private var parser: HeadParser
    private(set) var interim: [ResponseHead] = []

    init(limits: WireLimits) {
        parser = HeadParser(limits: limits)
    }

    /// Whether no part of an incomplete head has come.
    var isEmpty: Bool { parser.isEmpty }

    /// Whether the server wants the request's body (RFC 9110 §15.2.1).
    var hasLeave: Bool { interim.contains { $0.status == .continue } }

    /// Takes what was read, empty at the end of the stream. Returns the final head once it has come.
    mutating func take(_ chunk: consuming [UInt8], at time: HTTP.Instant) throws(WireError) -> Answer? {
        if chunk.isEmpty { try parser.endOfStream() }
        parser.feed(chunk)
        while let parsed = try parser.next() {
            guard parsed.isInterim else { return Answer(parsed, after: interim, rest: parser.takeRest(), at: time) }
            interim.append(parsed.head)
        }
        return nil
    }
}

extension ExchangeContext {
    /// How the body of an answer ends. Its head is here, with which the attempt ends.
    func framing(of answer: borrowing Answer, _ hop: HTTP.Hop) throws -> MessageFraming {
        clock.headCame()
        do throws(WireError) {
            // A part would be taken for the whole.
            if answer.head.status == .partialContent, !request.head.fields.contains("range"),
                !answer.head.fields.allowsWholeContent
            {
                throw .unaskedPart
            }
            return try answer.parsed.framing(for: method)
        } catch {
            throw invalid(error, .receive, hop)
        }
    }
}
