import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Sole reader` {
    private struct Work: ~Copyable {
        var count = 0
    }

    private struct Broken: Error {}

    /// What a reader found; work that is found is put back, one more each time.
    private static func visit(_ reader: borrowing SoleReader<Work>) -> String {
        switch reader.begin() {
        case .read(var work):
            work.count += 1
            let found = "work \(work.count)"
            reader.putBack(work)
            return found
        case .over: return "over"
        case .failed(let error): return (error as? NetworkError)?.code.description ?? "\(error)"
        }
    }

    @Test func `a sole reader finds what was put back`() {
        let reader = SoleReader(Work(), after: HTTP.Hop())
        #expect((0..<3).map { _ in Self.visit(reader) } == ["work 1", "work 2", "work 3"])
    }

    @Test func `a second reader of a body is refused while the first one reads`() {
        let reader = SoleReader(Work(), after: HTTP.Hop())
        guard case .read(let work) = reader.begin() else {
            Issue.record("nobody else is there")
            return
        }
        #expect(Self.visit(reader) == "bodyConsumed")
        reader.putBack(work)
        #expect(Self.visit(reader) == "work 1")
    }

    @Test func `who reads a body while it is given up gets the error, and is told of no other reader`() {
        let reader = SoleReader(Work(), after: HTTP.Hop())
        guard case .read(let work) = reader.giveUp(Broken()) else {
            Issue.record("nobody else is there")
            return
        }
        #expect(Self.visit(reader) == "Broken()")
        // What reading needed goes only then.
        _ = consume work
        #expect(Self.visit(reader) == "Broken()")
    }

    @Test func `a body that is being read is not given up`() {
        let reader = SoleReader(Work(), after: HTTP.Hop())
        guard case .read(let work) = reader.begin() else {
            Issue.record("nobody else is there")
            return
        }
        if case .read = reader.giveUp(Broken()) { Issue.record("it was taken from its reader") }
        reader.putBack(work)
        #expect(Self.visit(reader) == "work 1")
    }

    @Test func `a sole reader finds the end, or the failure, every time`() {
        let ended = SoleReader(Work(), after: HTTP.Hop())
        ended.end()
        let failed = SoleReader(Work(), after: HTTP.Hop())
        failed.fail(Broken())
        for _ in 0..<2 {
            #expect(Self.visit(ended) == "over")
            #expect(Self.visit(failed) == "Broken()")
        }
    }

    @Test func `a sole reader shows how far the body got, also while somebody reads`() {
        let reader = SoleReader(Work(), after: Self.attempt(1))
        guard case .read(let work) = reader.begin() else {
            Issue.record("nobody else is there")
            return
        }
        #expect(reader.hop.bodyBytes == 1)
        reader.putBack(work, after: Self.attempt(2))
        #expect(reader.hop.bodyBytes == 2)
        reader.fail(Broken(), after: Self.attempt(3))
        #expect(reader.hop.bodyBytes == 3)
        reader.end(after: Self.attempt(4), ["checksum": "1"])
        #expect(reader.hop.bodyBytes == 4)
        #expect(reader.trailers["checksum"] == "1")
    }

    @Test func `an end or a failure without an attempt leaves the attempt and the trailers as they were`() {
        let reader = SoleReader(Work(), after: Self.attempt(1), ["checksum": "1"])
        #expect(Self.visit(reader) == "work 1")
        reader.end()
        reader.fail(Broken())
        #expect(reader.hop.bodyBytes == 1)
        #expect(reader.trailers["checksum"] == "1")
    }

    private static func attempt(_ bodyBytes: Int) -> HTTP.Hop {
        var hop = HTTP.Hop()
        hop.bodyBytes = bodyBytes
        return hop
    }
}
