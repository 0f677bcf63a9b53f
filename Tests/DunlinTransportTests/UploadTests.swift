import DunlinReactor
import DunlinTypes
import DunlinWire
import Synchronization
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Upload beside its response` {
    private struct OneByte: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var left = 1

        func makeAsyncIterator() -> OneByte { self }

        mutating func next() async throws -> Bytes? {
            defer { left = 0 }
            return left == 1 ? Bytes([1]) : nil
        }
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// The reader stops it, and whoever made the request may send the body elsewhere: before the upload has begun it
    /// was not taken and never will be, afterwards the error says that something may have been sent.
    @Test(arguments: [true, false], [0, 30])
    func `a cancelled upload has taken its body by then, or never takes it`(isStoppedFirst: Bool, ahead: Int)
        async throws
    {
        let (pair, takings) = (try ChannelPair(), Count())
        let body = RequestBody(
            .stream(length: nil, isReplayable: false) {
                takings.value.add(1, ordering: .relaxed)
                return OneByte()
            }, contentType: nil)
        let context = pair.context(body: body)
        let writer = RequestWriter(context: context, stream: .plain(pair.channel))
        var hop = HTTP.Hop()
        hop.bytesSent = ahead
        let upload = Upload(Bytes("head"), nil, writer, after: hop)
        if isStoppedFirst { upload.stop() }
        await upload.run()
        if !isStoppedFirst { upload.stop() }
        #expect(takings.value.load(ordering: .relaxed) == (isStoppedFirst ? 0 : 1))
        #expect(pair.hear().isEmpty == isStoppedFirst)
        #expect(upload.isOver && upload.isComplete != isStoppedFirst)
        let failure = NetworkError(.connectionClosed, "it was closed", phase: .firstByte)
        let told = upload.explain(failure) as? NetworkError
        #expect(told?.requestMayHaveBeenSent == (!isStoppedFirst || ahead > 0))
    }

    /// It may be suspended again after the exchange has looked, and before the first byte.
    @Test(arguments: [true, false])
    func `what comes while a suspended upload has sent nothing is no answer`(speaks: Bool) async throws {
        let pair = try ChannelPair()
        let control = TransferControl(on: pair.reactor)
        let head = RequestHead(method: .put, origin: HTTP.Origin(scheme: .http, host: "a"), target: "/")
        let context = ExchangeContext(
            TransportRequest(head: head, body: .bytes([1]), deadline: pair.time.now.advanced(by: 1_000_000)),
            Cancellation(), ExchangeContext.Terms(WireLimits()),
            ExchangeOptions(tlsPolicySource: nil, control: control), since: pair.time.now, on: pair.reactor)
        let upload = Upload(
            Bytes("head"), nil, RequestWriter(context: context, stream: .plain(pair.channel)), after: HTTP.Hop())
        #expect(control.suspend() && !upload.hasBegun)
        async let run: Void = upload.run()
        try await pair.waitForReader()
        if speaks { pair.say(5) }
        #expect(control.resume())
        await run
        #expect(upload.hasBegun != speaks && upload.isComplete != speaks && pair.hear().isEmpty == speaks)
        guard speaks, case .failed(let error as NetworkError) = upload.outcome else { return }
        #expect(error.code == .connectionClosed && !error.requestMayHaveBeenSent)
        let told = upload.explain(NetworkError(.connectionClosed, "it was closed", phase: .send)) as? NetworkError
        #expect(told?.requestMayHaveBeenSent == false && told?.isSafeToRetry == true)
    }
}
