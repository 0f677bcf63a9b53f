import Dunlin
import DunlinTesting
import Mocking
import Testing

@testable import DunlinContent
@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Lines of a body` {
    static let cases: [(String, Bool, [String])] = [
        ("", false, []), ("a", false, ["a"]), ("a\n", false, ["a"]),
        ("a\nb", false, ["a", "b"]),
        ("\n\n", false, ["", ""]),
        ("a\r\nb\r\n", false, ["a", "b"]), ("a\rb\n", false, ["a\rb"]), ("a\r\r\n", false, ["a\r"]),
        ("\r", false, [""]),
        ("a\rb\r\nc\n\rd", true, ["a", "b", "c", "", "d"]), ("\r\n\r\n", true, ["", ""]), ("ü\n😀", true, ["ü", "😀"]),
    ]

    @Test(arguments: cases, [1, 2, 3, 100])
    func `the lines of a body are the same at any split`(of: (String, Bool, [String]), size: Int) throws {
        var machine = LineMachine(limit: 100, returnsEndLines: of.1)
        var (lines, rest) = ([String](), Bytes(of.0))
        while !rest.isEmpty {
            machine.take(rest[0..<min(size, rest.count)])
            rest = rest[min(size, rest.count)..<rest.count]
            while let line = try machine.next() { lines.append(String(line)) }
        }
        if let last = try machine.finish() { lines.append(String(last)) }
        #expect(lines == of.2)
    }

    @Test(arguments: [1, 3, 100])
    func `a line that is longer than its limit fails`(size: Int) throws {
        for (text, isTooLong) in [("abcd\nx", false), ("abcd\r\nx", false), ("abcde\n", true), ("abcdefgh", true)] {
            var machine = LineMachine(limit: 4)
            var rest = Bytes(text)
            var failed = false
            do {
                while !rest.isEmpty {
                    machine.take(rest[0..<min(size, rest.count)])
                    rest = rest[min(size, rest.count)..<rest.count]
                    while try machine.next() != nil {}
                }
                _ = try machine.finish()
            } catch {
                failed = true
            }
            #expect(failed == isTooLong, "\(text) by \(size)")
        }
    }

    @Test(arguments: [(Int.max, 2), (Int.max - 1, 2), (4, 2), (3, 1), (0, 0), (-1, 0), (.min, 0)])
    func `any number can be the limit of lines and events`(limit: Int, count: Int) async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/lines").respond(body: "abc\nabcd\n")
        mocked.transport.on(.get, "/events").respond(body: "data:abc\n\ndata:abcd\n\n")
        var (lines, events) = (0, 0)
        let short = try await networkError {
            try await mocked.session.withResponse(from: "lines") { response in
                for try await _ in response.lines(limit: limit) { lines += 1 }
            }
        }
        #expect(lines == count && short?.code == (count == 2 ? nil : .limitExceeded))
        let long = try await networkError {
            try await mocked.session.withResponse(from: "events") { response in
                for try await _ in response.events(limit: limit) { events += 1 }
            }
        }
        // The field's name is part of the line.
        #expect(events == (limit > 8 ? 2 : 0) && long?.code == (limit > 8 ? nil : .limitExceeded))
    }

    static let streams: [(String, [ServerSentEvent])] = [
        ("data: a\n\n", [.init(data: "a")]), ("data:a\ndata: b\ndata\n\n", [.init(data: "a\nb\n")]),
        ("event: delta\ndata: x\n\ndata: y\n\n", [.init(name: "delta", data: "x"), .init(data: "y")]),
        (": comment\n\nevent: none\n\ndata:\n\n", [.init(data: "")]),
        (
            "id: 1\nretry: 500\ndata: a\n\nid\nid: \0\nretry: x5\ndata: b\n\n",
            [
                .init(data: "a", id: "1", retry: .milliseconds(500)),
                .init(data: "b", id: "", retry: .milliseconds(500)),
            ]
        ),
        ("\u{FEFF}data: a\r\rdata: cut", [.init(data: "a")]),
        ("data: {\"a\": \"b: c\"}\r\n\r\n", [.init(data: "{\"a\": \"b: c\"}")]),
        ("unknown: x\ndata:  two\n\n", [.init(data: " two")]),
        ("retry: 99999999999999999999\ndata: a\n\n", [.init(data: "a", retry: .milliseconds(Int64.max))]),
    ]

    @Test(arguments: streams, [1, 7, 1000])
    func `server-sent events are read as browsers read them`(of: (String, [ServerSentEvent]), size: Int) async throws {
        let mocked = try Mocked()
        let bytes = Array(of.0.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
            Bytes(Array(bytes[$0..<min($0 + size, bytes.count)]))
        }
        mocked.transport.otherwise { _ in .stream(pieces) }
        let events = try await mocked.session.withResponse(from: "x") { response in
            var events: [ServerSentEvent] = []
            for try await event in response.events { events.append(event) }
            return events
        }
        #expect(events == of.1)
    }

    /// Lines, the ID after which a stream that ends there is resumed, and the wait that the server asked for.
    static let resumptions: [(lines: [String], id: String, retry: Duration?)] = [
        ([], "0", nil), (["data: a", ""], "0", nil), (["id: 1"], "0", nil), (["id: 1", "data: a"], "0", nil),
        (["id: 1", ""], "1", nil), (["id: 1", "data: a", "", "id: 2", "data"], "1", nil),
        (["id: 1", "", "id", ""], "", nil), (["id: 1", "id: 2\0", ""], "1", nil), ([": id: 1", ""], "0", nil),
        (["ID: 1", ""], "0", nil), (["id:  1", ""], " 1", nil), (["retry: 7"], "0", .milliseconds(7)),
        (["retry: 7", "retry: -1", "retry: 1.5", "retry: ٣", "retry"], "0", .milliseconds(7)),
        (["retry: 007", "retry: 9x"], "0", .milliseconds(7)),
        (["retry: 99999999999999999999"], "0", .milliseconds(Int64.max)),
        (["\u{FEFF}id: 1", "\u{FEFF}id: 2", ""], "1", nil), (["\u{FEFF}\u{FEFF}id: 1", ""], "0", nil),
    ]

    @Test(arguments: resumptions)
    func `an ID counts when an empty line completes it, and a wait at once`(
        row: (lines: [String], id: String, retry: Duration?)
    ) throws {
        var machine = ServerSentEventMachine(limit: 100, after: "0")
        for line in row.lines { _ = try machine.take(Bytes(line)) }
        #expect(machine.lastEventID == row.id && machine.retry == row.retry)
    }

    /// Comparing what has more takes a time that grows with the square of the run.
    @Test(arguments: ["event: a", "id: a", "data: a"])
    func `an event has at most 256 combining marks in a row`(beginning: String) throws {
        func line(_ count: Int) -> Bytes {
            Bytes(beginning + String(String.UnicodeScalarView(repeatElement("\u{301}", count: count))))
        }
        var machine = ServerSentEventMachine(limit: 10_000)
        #expect(try machine.take(line(256)) == nil)
        #expect(throws: ServerSentEventMachine.Refusal.tooManyMarks) { try machine.take(line(257)) }
        #expect(try machine.take(Bytes("unknown-\(String(line(2000)))")) == nil)
    }

    /// Swift considers them equal, and the server does not.
    @Test func `an event whose name only looks the same has no value`() async throws {
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in
            .respond(
                fields: ["Content-Type": "text/event-stream"],
                body: "event: caf\u{E9}\ndata: 1\n\nevent: cafe\u{301}\ndata: 2\n\ndata: end\n\n")
        }
        var values: [Int] = []
        for try await value in mocked.session.events("x", until: "end", named: ["caf\u{E9}"], as: Int.self) {
            values.append(value)
        }
        #expect(values == [1])
    }

    @Test func `each line of JSON is decoded as a value, and blank lines are skipped`() async throws {
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in .respond(body: "{\"id\":1,\"name\":\"a\"}\r\n\n  \n{\"id\":2,\"name\":\"b\"}")
        }
        let users = try await mocked.session.withResponse(from: "x") { response in
            var users: [User] = []
            for try await user in response.values(of: User.self) { users.append(user) }
            return users
        }
        #expect(users == [User(id: 1, name: "a"), User(id: 2, name: "b")])
    }

    @Test func `a line that is too long fails with code limitExceeded`() async throws {
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in .respond(body: "data: 123\ndata: 456\n\n") }
        let line = try await networkError {
            try await mocked.session.withResponse(from: "x") { for try await _ in $0.lines(limit: 8) {} }
        }
        #expect(line?.code == .limitExceeded)
        let event = try await networkError {
            try await mocked.session.withResponse(from: "x") { for try await _ in $0.events(limit: 10) {} }
        }
        #expect(event == nil)
        let long = try await networkError {
            try await mocked.session.withResponse(from: "x") { for try await _ in $0.events(limit: 9) {} }
        }
        #expect(long == nil || long?.code == .limitExceeded)
    }
}
