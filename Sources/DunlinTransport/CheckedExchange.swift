package import DunlinReactor
package import DunlinTypes
internal import DunlinWire

/// An exchange without a connection, for a transport that makes up its answers. Requests, answers and waits are checked
/// as for sockets.
///
/// It has no rules of its own: `RequestMessage` checks requests, `AnswerHeads` and `MessageFraming` check heads, and
/// `BodyReader` checks bodies; `ExchangeContext` makes the errors. It must not know where the answers come from.
package struct CheckedExchange: Sendable {
    let context: ExchangeContext
    let scope: ExchangeScope
    /// The hop after the request's head has been sent.
    let hop: HTTP.Hop
    private let file: FileSource?
    /// The encoded head, perhaps with a small body.
    private let opening: Bytes

    /// Throws if the request may not be sent. Limits are measured in the time of the session that asks, or without one
    /// in real time.
    package init(_ request: TransportRequest) async throws {
        let scope = try ExchangeScope.present ?? ExchangeScope(on: ReactorGroup.shared.reactors()[0])
        self.scope = scope
        context = ExchangeContext(
            request, Cancellation(), ExchangeContext.Terms(scope.limits),
            ExchangeOptions(
                tlsPolicySource: nil, control: scope.control, connectionRules: nil, upgrade: scope.upgrade),
            since: scope.loop.now(), on: scope.loop)
        var file: FileSource?
        if case .file(let body) = request.body.content { file = try await FileSource.open(body, for: context) }
        let message = try RequestMessage(of: context, file, nil)
        var hop = context.hop
        opening = message.opening
        hop.bytesSent = opening.count - (message.body == nil ? request.body.length ?? 0 : 0)
        self.hop = hop
        self.file = file
    }

    package var started: HTTP.Instant { context.started }
    /// The head as an origin would get it: with `Host`, and with what frames the body.
    package var sentHead: RequestHead { RequestHead.sent(opening, of: context.request.head).0 }
    /// The loop whose time the exchange's limits use.
    package var loop: Reactor { scope.loop }

    /// The names that are secret for the session that asks.
    package var secretFields: HTTP.SecretFields { scope.secretFields }

    package func now() -> HTTP.Instant { context.clock.now() }

    /// The hop after the request was sent, with this many bytes of a body.
    package func hop(after body: Int, sentAt time: HTTP.Instant) -> HTTP.Hop {
        var hop = hop
        hop.bytesSent += body
        hop.requestBodyBytes = body
        hop[.send] = time.nanoseconds - started.nanoseconds
        return hop
    }

    /// Takes the request's body as it would be sent, and passes each piece to `take`.
    package func sendBody(_ take: (Bytes) -> Void) async throws {
        var count = 0
        do {
            try await sendingBody { piece in
                count += piece.count
                take(piece)
            }
        } catch {
            throw located(error, ended(hop(after: count, sentAt: now()), in: .send))
        }
    }

    private func sendingBody(_ take: (Bytes) -> Void) async throws {
        let body = context.request.body
        switch body.content {
        case .none: break
        case .bytes(let bytes): take(bytes)
        case .file: if let file { take(try file.bytes()) }
        case .stream(let length, _, let make):
            var count = 0
            for try await piece in make() where !piece.isEmpty {
                try context.count(piece.count, of: length, &count, hop)
                take(piece)
            }
            try Task.checkCancellation()
            try context.checkEnd(after: count, of: length, hop)
        }
        if body.isChunked { _ = try await context.end(of: body, hop) }
    }
}

// MARK: - The answer

extension CheckedExchange {
    /// The answer in these bytes: the final head, perhaps after interim ones. The request was sent at `sent`, with this
    /// hop.
    package func answer(_ bytes: Bytes, since sent: HTTP.Instant, _ hop: HTTP.Hop) throws -> CheckedAnswer {
        var hop = hop
        hop.ended = now()
        hop[.firstByte] = hop.ended.nanoseconds - sent.nanoseconds
        hop.bytesReceived = bytes.count
        let answer = try parsed(bytes, hop)
        let framing = try context.framing(of: answer, hop)
        if framing.body == .upgrade { try context.checkUpgrade(to: answer.head, hop) }
        return CheckedAnswer(self, answer, framing.body, hop)
    }

    private func parsed(_ bytes: Bytes, _ hop: HTTP.Hop) throws -> Answer {
        var heads = AnswerHeads(limits: context.terms.limits)
        do throws(WireError) {
            if let answer = try heads.take(bytes.array, at: now()) { return answer }
            // Nothing follows.
            _ = try heads.take([], at: now())
            throw .truncatedHead
        } catch {
            throw context.invalid(error, .receive, hop)
        }
    }
}

/// The part of an answer that comes before its body.
package struct CheckedAnswer: Sendable {
    package let head: ResponseHead
    package let interim: [ResponseHead]
    private let exchange: CheckedExchange
    private let framing: BodyFraming
    private let rest: Bytes
    package let hop: HTTP.Hop

    fileprivate init(
        _ exchange: CheckedExchange, _ answer: borrowing Answer, _ framing: BodyFraming, _ hop: HTTP.Hop
    ) {
        self.exchange = exchange
        self.framing = framing
        self.hop = hop
        head = answer.head
        interim = answer.interim
        rest = answer.rest
    }

    /// The body that follows. If the head does not say how it ends, it has `length` bytes; nil stands for chunks.
    package func body(ofLength length: Int?) -> CheckedBody {
        let framing = framing == .untilClose ? length.map { .length($0) } ?? .chunked : framing
        return CheckedBody(exchange, framing, rest, hop)
    }
}

/// A body, made from what comes after a head.
package struct CheckedBody: Sendable {
    package let isChunked: Bool
    package let expectedLength: Int?
    /// The current state of the exchange's hop.
    package private(set) var hop: HTTP.Hop
    private let exchange: CheckedExchange
    private var reader: BodyReader
    /// The bytes that came with the head.
    private var rest: Bytes

    fileprivate init(_ exchange: CheckedExchange, _ framing: BodyFraming, _ rest: Bytes, _ hop: HTTP.Hop) {
        self.hop = hop
        isChunked = framing == .chunked
        if case .length(let length) = framing { expectedLength = length } else { expectedLength = nil }
        self.exchange = exchange
        self.rest = rest
        reader = BodyReader(framing, limits: exchange.context.terms.limits)
    }

    package var isFinished: Bool { reader.isFinished }
    /// The trailers, once the body is finished.
    package var trailers: Fields { reader.trailers }

    /// The bytes of the body in what came, without any beyond its end.
    package mutating func take(_ bytes: Bytes) throws -> Bytes {
        hop.bytesReceived += bytes.count
        let bytes = rest.isEmpty ? bytes : Bytes(rest.array + bytes.array)
        rest = .empty
        var (offset, pieces) = (0, [Bytes]())
        while case .data(let range) = try step(bytes, from: offset) {
            pieces.append(bytes[range])
            offset = range.upperBound
            hop.bodyBytes += range.count
        }
        hop.decodedBytes = hop.bodyBytes
        hop.ended = exchange.now()
        return pieces.count == 1 ? pieces[0] : Bytes(pieces.flatMap(\.array))
    }

    private mutating func step(_ bytes: Bytes, from offset: Int) throws -> BodyStep {
        do throws(WireError) {
            return try reader.next(in: bytes.span.bytes, from: offset)
        } catch {
            throw exchange.context.invalid(error, .receive, hop)
        }
    }

    /// Waits for more of the body, like `CheckedExchange.wait`, and counts the time.
    package mutating func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let start = exchange.now()
        let value = try await exchange.wait(in: .receive, since: start, hop, work)
        hop.ended = exchange.now()
        hop[.receive] += hop.ended.nanoseconds - start.nanoseconds
        return value
    }

    /// Notes that nothing more comes.
    package mutating func end() throws {
        do throws(WireError) {
            try reader.endOfStream()
        } catch {
            throw exchange.context.invalid(error, .receive, hop)
        }
    }
}
