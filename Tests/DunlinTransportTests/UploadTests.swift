import DunlinTypes
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
        let (line, takings) = (try Line(), Count())
        let body = RequestBody(
            .stream(length: nil, isReplayable: false) {
                takings.value.add(1, ordering: .relaxed)
                return OneByte()
            }, contentType: nil)
        let context = line.context(body: body)
        let writer = RequestWriter(context: context, stream: .plain(line.channel))
        var hop = HTTP.Hop()
        hop.bytesSent = ahead
        let upload = Upload(Bytes("head"), nil, writer, after: hop)
        if isStoppedFirst { upload.stop() }
        await upload.run()
        if !isStoppedFirst { upload.stop() }
        #expect(takings.value.load(ordering: .relaxed) == (isStoppedFirst ? 0 : 1))
        #expect(line.hear().isEmpty == isStoppedFirst)
        #expect(upload.isOver && upload.isComplete != isStoppedFirst)
        let failure = NetworkError(.connectionClosed, "it was closed", phase: .firstByte)
        let told = upload.explain(failure) as? NetworkError
        #expect(told?.requestMayHaveBeenSent == (!isStoppedFirst || ahead > 0))
    }
}
