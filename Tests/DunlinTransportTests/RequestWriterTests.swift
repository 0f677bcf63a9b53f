import DunlinReactor
import DunlinTypes
import Folders
import Glibc
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Request writer` {
    private static let text = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

    @Test func `the request writer sends a file through memory where the kernel sends none`() async throws {
        let folder = try Folder()
        let file = try OpenFile(folder.write(Self.text, as: "file"))
        for refuses in [false, true] {
            let pair = try ChannelPair(refusesFiles: refuses)
            if refuses {
                #expect(throws: Errno(rawValue: EINVAL)) { try pair.channel.sendFile(file, from: 0, count: 10) }
            }
            let writer = RequestWriter(context: pair.context(), stream: .plain(pair.channel))
            var attempt = HTTP.Hop()
            var offset = 100
            while offset < 9_000 { offset += try await writer.send(file, from: offset, upTo: 9_000, &attempt) }
            #expect(attempt.bytesSent == 8_900)
            #expect(pair.hear() == Array(Self.text[100..<9_000]))
        }
    }

    @Test(arguments: [false, true])
    func `an error says that a file became shorter`(refuses: Bool) async throws {
        let folder = try Folder()
        let file = try OpenFile(folder.write(Self.text, as: "file"))
        try #require(truncate("\(folder.path)/file", 10) == 0)
        let pair = try ChannelPair(refusesFiles: refuses)
        let writer = RequestWriter(context: pair.context(), stream: .plain(pair.channel))
        do {
            var attempt = HTTP.Hop()
            _ = try await writer.send(file, from: 10, upTo: 10_000, &attempt)
            Issue.record("there was nothing to send")
        } catch let error as NetworkError {
            #expect(error.code == .bodyLengthMismatch)
        }
    }

    /// The kernel waits 200 ms at most, so a test that is held up may come too late now and then.
    @Test func `a write that others follow at once shares its last segment with them`() async throws {
        for _ in 0..<5 {
            let pair = try ChannelPair()
            let writer = RequestWriter(context: pair.context(), stream: .plain(pair.channel))
            var attempt = HTTP.Hop()
            try await writer.write("head", more: true, &attempt)
            let early = pair.hear()
            try await writer.write("body", &attempt)
            let rest = pair.hear()
            #expect(early + rest == Array("headbody".utf8))
            if early.isEmpty { return }
        }
        Issue.record("the head went out alone every time")
    }
}
