import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `A multipart form, step by step` {
    typealias Machine = MultipartMachine

    @Test func `the machine of a form opens a part when its turn comes, and goes on at its end`() throws {
        var machine = Machine([.bytes("ab"), .part(0, length: 3), .bytes("c"), .part(1, length: nil), .bytes("d")])
        #expect(machine.next() == .give("ab"))
        #expect(machine.next() == .open(part: 0))
        #expect(machine.next() == .read)
        try machine.took("x")
        #expect(machine.next() == .give("x"))
        #expect(machine.next() == .read)
        try machine.took("yz")
        #expect(machine.next() == .give("yz"))
        #expect(machine.next() == .read)
        try machine.took(nil)
        #expect(machine.next() == .give("c"))
        #expect(machine.next() == .open(part: 1))
        try machine.took(nil)
        #expect(machine.next() == .give("d"))
        #expect(machine.next() == .end)
        #expect(machine.next() == .end)
    }

    @Test(.rows("MP-5"), arguments: [1, 2, 3, 7, 1024, 64 * 1024])
    func `the machine of a form gives the same bytes in pieces of any size`(size: Int) throws {
        let runs: [Machine.Run] = [
            .bytes("--B\r\n\r\n"), .part(0, length: 5000), .bytes("\r\n--B\r\n\r\n"), .part(1, length: nil),
            .part(2, length: 0), .bytes("\r\n--B--\r\n"),
        ]
        for step in [1, 3, 1024, 10_000] {
            var machine = Machine(runs, pieceSize: size)
            var (given, left, longest) = ([UInt8](), 0, 0)
            loop: while true {
                switch machine.next() {
                case .give(let bytes):
                    given += bytes.array
                    longest = max(longest, bytes.count)
                case .open(let part): left = [5000, 300, 0][part]
                case .read:
                    let count = min(step, left)
                    left -= count
                    try machine.took(count == 0 ? nil : Bytes([UInt8](repeating: 7, count: count)))
                case .end: break loop
                }
            }
            let body = [UInt8](repeating: 7, count: 5000)
            let first = Array("--B\r\n\r\n".utf8) + body + Array("\r\n--B\r\n\r\n".utf8)
            #expect(given == first + body.prefix(300) + Array("\r\n--B--\r\n".utf8))
            #expect(longest <= size)
        }
    }

    static let lengths: [(Int?, [Bytes?], Machine.Violation?)] = [
        (3, ["abc", nil], nil), (3, ["ab", "", "c", nil], nil), (0, [nil], nil), (nil, ["abc", "d", nil], nil),
        (3, ["ab", nil], .tooShort(part: 4, missing: 1)), (3, [nil], .tooShort(part: 4, missing: 3)),
        (3, ["abcd"], .tooLong(part: 4)), (3, ["abc", "d"], .tooLong(part: 4)), (0, ["a"], .tooLong(part: 4)),
    ]

    @Test(.rows("MP-14"), arguments: lengths)
    func `a part that is shorter or longer than it announced is refused`(
        length: Int?, pieces: [Bytes?], violation: Machine.Violation?
    ) {
        var machine = Machine([.part(4, length: length)])
        #expect(machine.next() == .open(part: 4))
        var found: Machine.Violation?
        for piece in pieces {
            do {
                try machine.took(piece)
            } catch {
                found = error
            }
            while case .give = machine.next() {}
        }
        #expect(found == violation)
        #expect((machine.next() == .end) == (violation == nil))
    }

    @Test(
        arguments: [
            (3, 3, nil), (0, 0, nil), (nil, 7, nil), (3, 2, .tooShort(part: 1, missing: 1)), (3, 4, .tooLong(part: 1)),
        ] as [(Int?, Int, Machine.Violation?)])
    func `a form goes on behind a part that was sent by itself`(length: Int?, count: Int, violation: Machine.Violation?)
        throws
    {
        var machine = Machine([.bytes("a"), .part(1, length: length), .bytes("b")])
        #expect(machine.next() == .give("a"))
        #expect(machine.next() == .open(part: 1))
        if let violation {
            #expect(throws: violation) { try machine.passed(count) }
        } else {
            try machine.passed(count)
            #expect(machine.next() == .give("b"))
            #expect(machine.next() == .end)
        }
    }

    @Test func `the machine of a form ignores bytes that it did not ask for`() throws {
        var machine = Machine([.bytes("a")])
        try machine.took("x")
        #expect(machine.next() == .give("a"))
        #expect(machine.next() == .end)
        try machine.took("x")
        #expect(machine.next() == .end)
        var empty = Machine([])
        #expect(empty.next() == .end)
    }
}
