import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Collected body` {
    private static func part(_ count: Int, from start: Int = 0) -> Bytes {
        Bytes((start..<(start + count)).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test(arguments: [nil, 6, 100, .max] as [Int?], [[], [6], [1, 5], [2, 2, 2], [0, 6, 0]])
    func `a collected body is its parts in order`(expected: Int?, counts: [Int]) {
        var body = CollectedBody(expecting: expected)
        var start = 0
        for count in counts {
            body.append(Self.part(count, from: start))
            start += count
        }
        #expect(body.bytes == Self.part(start))
        #expect(body.count == start)
    }

    @Test(.rows("SM-41")) func `a collected body of one part is that part itself, not a copy`() {
        var body = CollectedBody(expecting: nil)
        let part = Self.part(100)
        body.append(part)
        part.withUnsafeBytes { mine in body.bytes.withUnsafeBytes { #expect($0.baseAddress == mine.baseAddress) } }
    }

    @Test func `a collected body receives in place, never more than it is told`() async throws {
        var body = CollectedBody(expecting: 10)
        body.append(Self.part(4))
        var asked: [Int] = []
        while body.count < 10 {
            let received = try await body.receive(upTo: 10 - body.count) { bytes, room in
                asked.append(room)
                let start = bytes.count
                for index in 0..<min(room, 4) { bytes.append(UInt8(start + index)) }
            }
            #expect(received == min(asked.last ?? 0, 4))
        }
        #expect(asked == [6, 2])
        #expect(body.bytes == Self.part(10))
    }

    @Test func `a collected body takes no memory on a peer's word alone`() async throws {
        var body = CollectedBody(expecting: .max)
        for _ in 0..<3 {
            _ = try await body.receive(upTo: .max) { bytes, room in
                #expect(room <= 256 << 20)
                bytes.append(1)
            }
        }
        #expect(body.bytes == [1, 1, 1])
    }
}
