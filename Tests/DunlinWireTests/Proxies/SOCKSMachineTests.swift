import DunlinTypes
import DunlinWire
import Testing

@Suite struct `SOCKS machine` {
    typealias Destination = SOCKSMachine.Destination

    /// The proxy's answers, each sent behind one of the client's messages.
    private struct Play {
        var written: [[UInt8]] = []
        var outcome: SOCKSMachine.Action?

        /// Each answer is cut into pieces of `size` bytes.
        init(_ machine: SOCKSMachine, answers: [[UInt8]], size: Int) {
            var machine = machine
            var action = machine.begin()
            for answer in answers {
                guard case .write(let bytes) = action else { break }
                written.append(bytes)
                for start in stride(from: 0, to: max(answer.count, 1), by: size) {
                    action = machine.receive(answer[start..<min(start + size, answer.count)])
                    guard case .read = action else { break }
                }
            }
            outcome = action
        }
    }

    private static let granted: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    static let requests: [(Destination, [UInt8])] = [
        (.address(.v4(0xC000_0201, port: 443)), [5, 1, 0, 1, 192, 0, 2, 1, 1, 187]),
        (
            .address(.v6(0x2001_0DB8_0000_0000, 1, port: 80)),
            [5, 1, 0, 4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80]
        ),
        (.name("a.test", port: 65_535), [5, 1, 0, 3, 6] + Array("a.test".utf8) + [255, 255]),
        (
            .name(String(repeating: "a", count: 255), port: 1),
            [5, 1, 0, 3, 255] + [UInt8](repeating: 0x61, count: 255) + [0, 1]
        ),
    ]

    @Test(arguments: requests)
    func `a destination is said as what it is`(destination: Destination, request: [UInt8]) throws {
        let machine = try SOCKSMachine(to: destination)
        let play = Play(machine, answers: [[5, 0], Self.granted], size: 99)
        #expect(play.written == [[5, 1, 0], request])
        #expect(play.outcome == .ready(following: 0))
    }

    static let refusedDestinations: [(Destination, SOCKSError)] = [
        (.name("", port: 80), .unfitName), (.name("a b", port: 80), .unfitName), (.name("a\0b", port: 80), .unfitName),
        (.name("a\u{E4}", port: 80), .unfitName), (.name("a\u{7F}", port: 80), .unfitName),
        (.name(String(repeating: "a", count: 256), port: 80), .nameTooLong),
        (.address(.unix("/s")), .unfitAddress), (.address(.v6(0xFE80 << 48, 1, port: 80, scope: 2)), .unfitAddress),
    ]

    @Test(arguments: refusedDestinations)
    func `a destination that SOCKS cannot say is refused before anything is sent`(
        destination: Destination, error: SOCKSError
    ) {
        #expect(throws: error) { try SOCKSMachine(to: destination) }
    }

    static let credentials: [(String?, String?, isFit: Bool)] = [
        ("u", "p", true), (String(repeating: "u", count: 255), String(repeating: "p", count: 255), true),
        ("", "p", false), ("u", "", false), ("u", nil, false), (nil, "p", false),
        (String(repeating: "u", count: 256), "p", false), ("u", String(repeating: "\u{E4}", count: 128), false),
    ]

    @Test(arguments: credentials)
    func `user name and password have one to 255 bytes each`(user: String?, password: String?, isFit: Bool) throws {
        let make = { () throws(SOCKSError) in
            try SOCKSMachine(to: .name("a", port: 80), user: user, password: password)
        }
        guard isFit, let user, let password else {
            #expect(throws: SOCKSError.unfitCredentials) { try make() }
            return
        }
        let play = Play(try make(), answers: [[5, 2], [1, 0], Self.granted], size: 99)
        let count = [UInt8(user.utf8.count), UInt8(password.utf8.count)]
        let sent = [1, count[0]] + Array(user.utf8) + [count[1]] + Array(password.utf8)
        #expect(play.written == [[5, 2, 0, 2], sent, [5, 1, 0, 3, 1, 0x61, 0, 80]])
        #expect(play.outcome == .ready(following: 0))
    }

    @Test func `a proxy that wants no password gets none`() throws {
        let machine = try SOCKSMachine(to: .name("a", port: 80), user: "u", password: "p")
        let play = Play(machine, answers: [[5, 0], Self.granted], size: 1)
        #expect(play.written == [[5, 2, 0, 2], [5, 1, 0, 3, 1, 0x61, 0, 80]])
    }

    /// Answers to a client with a password or without, and what comes of them.
    static let answers: [(hasPassword: Bool, answers: [[UInt8]], SOCKSMachine.Action)] = [
        (false, [[5, 0], granted], .ready(following: 0)),
        (false, [[5, 0], [5, 0, 0, 4] + [UInt8](repeating: 9, count: 18)], .ready(following: 0)),
        (false, [[5, 0], [5, 0, 0, 3, 0, 0, 0]], .ready(following: 0)),
        (false, [[5, 0], [5, 0, 0, 3, 2, 0x61, 0x62, 0, 80]], .ready(following: 0)),
        (false, [[5, 0], [5, 0, 0, 3, 255] + [UInt8](repeating: 0, count: 257)], .ready(following: 0)),
        (true, [[5, 2], [1, 0], granted], .ready(following: 0)),
        // The method.
        (false, [[4, 0]], .fail(.wrongVersion(4, .method))), (false, [[0]], .fail(.wrongVersion(0, .method))),
        (false, [Array("HTTP/1.1 400".utf8)], .fail(.wrongVersion(0x48, .method))),
        (false, [[5, 0xFF]], .fail(.noMethod(hadCredentials: false))),
        (true, [[5, 0xFF]], .fail(.noMethod(hadCredentials: true))),
        (false, [[5, 2]], .fail(.methodNotOffered(2))), (true, [[5, 1]], .fail(.methodNotOffered(1))),
        (true, [[5, 0x80]], .fail(.methodNotOffered(0x80))),
        // The password.
        (true, [[5, 2], [1, 1]], .fail(.credentialsRefused)),
        (true, [[5, 2], [1, 0xFF]], .fail(.credentialsRefused)),
        (true, [[5, 2], [5, 0]], .fail(.wrongVersion(5, .password))),
        // The answer.
        (false, [[5, 0], [4]], .fail(.wrongVersion(4, .reply))),
        (false, [[5, 0], [5, 0, 1]], .fail(.reservedByte(1))),
        (false, [[5, 0], [5, 0, 0, 0]], .fail(.unknownAddressType(0))),
        (false, [[5, 0], [5, 0, 0, 2]], .fail(.unknownAddressType(2))),
        (false, [[5, 0], [5, 0, 0, 0xFF]], .fail(.unknownAddressType(0xFF))),
    ]

    @Test(arguments: answers, [1, 2, 3, 7, 999])
    func `answers mean the same however they are cut`(
        row: (hasPassword: Bool, answers: [[UInt8]], SOCKSMachine.Action), size: Int
    ) throws {
        let machine = try SOCKSMachine(
            to: .name("a", port: 80), user: row.hasPassword ? "u" : nil, password: row.hasPassword ? "p" : nil)
        let play = Play(machine, answers: row.answers, size: size)
        #expect(play.outcome == row.2)
    }

    static let refusals: [(UInt8, SOCKSError.Refusal)] = [
        (1, .generalFailure), (2, .notAllowed), (3, .networkUnreachable), (4, .hostUnreachable),
        (5, .connectionRefused), (6, .timeToLiveExpired), (7, .commandNotSupported), (8, .addressTypeNotSupported),
        (9, .unknown(9)), (255, .unknown(255)),
    ]

    @Test(arguments: refusals)
    func `a refusal is one as soon as its code is there`(code: UInt8, refusal: SOCKSError.Refusal) throws {
        let machine = try SOCKSMachine(to: .name("a", port: 80))
        for rest: [UInt8] in [[], [0, 1, 0, 0, 0, 0, 0, 0], [9, 9]] {
            #expect(Play(machine, answers: [[5, 0], [5, code] + rest], size: 99).outcome == .fail(.refused(refusal)))
        }
        #expect("\(SOCKSError.refused(refusal))".hasPrefix("the "))
    }

    @Test(arguments: [[5, 0, 5], [5, 0] + granted])
    func `bytes behind an answer that nobody asked for are refused`(answer: [UInt8]) throws {
        let machine = try SOCKSMachine(to: .name("a", port: 80))
        #expect(Play(machine, answers: [answer], size: 99).outcome == .fail(.unaskedBytes))
        var early = machine
        #expect(early.receive([5]) == .fail(.unaskedBytes))
        let secret = try SOCKSMachine(to: .name("a", port: 80), user: "u", password: "p")
        #expect(Play(secret, answers: [[5, 2], [1, 0, 5]], size: 99).outcome == .fail(.unaskedBytes))
    }

    @Test(arguments: [granted, [5, 0, 0, 3, 1, 0x61, 0, 0], [5, 0, 0, 4] + [UInt8](repeating: 0, count: 18)])
    func `what follows the last answer belongs to the tunnel`(reply: [UInt8]) throws {
        for count in 0...3 {
            let following = [UInt8](repeating: 0x16, count: count)
            for cut in 0...reply.count {
                var machine = try SOCKSMachine(to: .name("a", port: 80))
                _ = machine.begin()
                _ = machine.receive([5, 0])
                let first = machine.receive(reply[..<cut])
                if cut < reply.count {
                    guard case .read = first else {
                        Issue.record("\(first) after \(cut) bytes")
                        continue
                    }
                    #expect(machine.receive(reply[cut...] + following) == .ready(following: count))
                } else {
                    #expect(machine.receive(following) == .ready(following: count))
                }
            }
        }
    }

    @Test func `who reads no more than asked for reads nothing of the tunnel`() throws {
        for reply in [Self.granted, [5, 0, 0, 3, 0, 0, 0], [5, 0, 0, 3, 200] + [UInt8](repeating: 1, count: 202)] {
            var machine = try SOCKSMachine(to: .name("a", port: 80), user: "u", password: "p")
            var sent = [5, 2, 1, 0] + reply + [0x16, 0x03]
            var action = machine.begin()
            while true {
                if case .write = action { action = machine.receive([]) }
                guard case .read(let count) = action else { break }
                action = machine.receive(sent.prefix(count))
                sent.removeFirst(count)
            }
            #expect(action == .ready(following: 0))
            #expect(sent == [0x16, 0x03])
        }
    }

    @Test func `the end of the stream says what was missing`() throws {
        var machine = try SOCKSMachine(to: .name("a", port: 80), user: "u", password: "p")
        _ = machine.begin()
        var copy = machine
        #expect(copy.end() == .closed(.method))
        _ = machine.receive([5, 2])
        copy = machine
        #expect(copy.end() == .closed(.password))
        _ = machine.receive([1, 0])
        copy = machine
        #expect(copy.end() == .closed(.reply))
        #expect(copy.receive(Self.granted) == .fail(.closed(.reply)))
        #expect(machine.receive(Self.granted) == .ready(following: 0))
        #expect(machine.end() == nil)
    }

    @Test func `a machine that failed stays so`() throws {
        var machine = try SOCKSMachine(to: .name("a", port: 80))
        _ = machine.begin()
        #expect(machine.receive([9]) == .fail(.wrongVersion(9, .method)))
        #expect(machine.receive([5, 0]) == .fail(.wrongVersion(9, .method)))
        #expect(machine.begin() == .fail(.wrongVersion(9, .method)))
        #expect(machine.end() == .wrongVersion(9, .method))
    }

    @Test func `no description shows a password`() throws {
        var machine = try SOCKSMachine(to: .name("a", port: 80), user: "somebody", password: "geheim")
        _ = machine.begin()
        let action = machine.receive([5, 2])
        for text in ["\(machine)", String(reflecting: machine), "\(action)", String(reflecting: action)] {
            #expect(!text.contains("geheim") && !text.contains("somebody") && !text.contains("103"), "\(text)")
        }
        var shown = ""
        dump(machine, to: &shown)
        dump(action, to: &shown)
        #expect(!shown.contains("geheim") && !shown.contains("103"))
    }
}
