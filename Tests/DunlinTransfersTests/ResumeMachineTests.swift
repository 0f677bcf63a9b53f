import Dunlin
import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinTransfers

@Suite struct `Resume machine` {
    private typealias Machine = ResumeMachine

    private static let tag = #""v1""#
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static func head(_ status: HTTP.Status, _ fields: Fields) -> ResponseHead {
        ResponseHead(status: status, fields: fields)
    }

    /// At byte 100 of a file of 1000.
    private static func machine(
        validator: String = tag, complete: Int? = 1000, upTo limit: Int? = nil, at offset: Int = 100,
        _ rules: Machine.Rules = .init()
    ) throws -> Machine {
        let piece = ResumeData.Piece(range: 0..<max(1, offset), checksum: 0)
        let data = ResumeData(
            url: "http://a/", method: .get, fields: [:], validator: validator, completeLength: complete, partPath: "p",
            pieces: [piece])
        return Machine(rules, goingOnWith: try #require(data), from: offset, upTo: limit)
    }

    @Test func `a new download asks for the whole file without content coding`() {
        let machine = Machine()
        #expect(machine.ask == .whole)
        #expect(machine.fields == ["Accept-Encoding": "identity"])
        #expect(!machine.isResumable)
    }

    @Test(.rules("9110-15.3.7-4"), arguments: [tag, date])
    func `a resumed download asks for the rest with If-Range`(validator: String) throws {
        let machine = try Self.machine(validator: validator)
        #expect(machine.ask == .rest(from: 100, try #require(Validator(validator))))
        #expect(machine.fields == ["Accept-Encoding": "identity", "Range": "bytes=100-", "If-Range": validator])
    }

    @Test func `what another user or origin answers is no part of what is there, and the whole is asked for`() throws {
        let part: Fields = ["ETag": Self.tag, "Content-Range": "bytes 100-999/1000", "Content-Length": "900"]
        for (status, fields) in [(206, part), (416, ["Content-Range": "bytes */100"])] as [(HTTP.Status, Fields)] {
            var machine = try Self.machine()
            #expect(machine.answered(Self.head(status, fields), isElsewhere: true) == .askAgain)
            #expect(machine.ask == .whole && machine.offset == 0)
        }
        var machine = try Self.machine()
        #expect(machine.answered(Self.head(200, ["ETag": Self.tag]), isElsewhere: true) == .startOver)
    }

    @Test func `a download without a validator or pieces asks for the whole file`() throws {
        #expect(try Self.machine(at: 1).ask != .whole)
        let data = try #require(
            ResumeData(
                url: "http://a/", method: .get, fields: [:], validator: nil, completeLength: nil, partPath: "p",
                pieces: [])
        )
        #expect(Machine(goingOnWith: data, from: 100).ask == .whole)
    }

    static let requests: [(HTTP.Method, Fields, Bool, Bool)] = [
        (.get, ["Accept": "*/*"], false, true), (.get, ["range": "bytes=0-1"], false, false),
        (.get, ["If-Range": "\"a\""], false, false), (.get, [:], true, false), (.head, [:], false, false),
        (.post, [:], false, false), ("get", [:], false, false),
    ]

    @Test(arguments: requests)
    func `a request can be resumed only if it is a GET without a body or a range of its own`(
        method: HTTP.Method, fields: Fields, hasBody: Bool, expected: Bool
    ) {
        #expect(Machine.mayResume(method, fields, hasBody: hasBody) == expected)
    }

    static let pieces: [(String?, [Range<Int>], Int, Int?, [Range<Int>])] = [
        (tag, [0..<10], 10, nil, [0..<10]), (tag, [0..<10], 20, nil, [0..<10]), (tag, [0..<10], 9, nil, []),
        (nil, [0..<10], 10, 10, []), (tag, [], 10, 10, []), (tag, [5..<10], 10, nil, []),
        (tag, [5..<10], 10, 20, [5..<10]), (tag, [0..<4, 6..<10], 5, 20, [0..<4]),
        (tag, [0..<4, 4..<6, 8..<10], 20, nil, [0..<4, 4..<6]),
        (tag, [0..<4, 4..<6, 8..<10], 20, 20, [0..<4, 4..<6, 8..<10]),
    ]

    @Test(arguments: pieces)
    func `only the usable pieces of a part are read again`(
        validator: String?, pieces: [Range<Int>], length: Int, complete: Int?, expected: [Range<Int>]
    ) throws {
        let data = try #require(
            ResumeData(
                url: "http://a/", method: .get, fields: [:], validator: validator, completeLength: complete,
                partPath: "p", pieces: pieces.map { .init(range: $0, checksum: 1) }))
        #expect(Machine.pieces(of: data, partLength: length).map(\.range) == expected)
    }

    @Test(arguments: [0, 100])
    func `a download asks for the gap before the bytes that are there already`(offset: Int) throws {
        var machine = try Self.machine(upTo: 300, at: offset)
        #expect(machine.ask == .rest(from: offset, upTo: 300, try #require(Validator(Self.tag))))
        #expect(machine.fields["range"] == "bytes=\(offset)-299")
        let beyond: Fields = ["ETag": Self.tag, "Content-Range": "bytes \(offset)-300/1000"]
        var other = machine
        #expect(other.answered(Self.head(206, beyond)) == .askAgain)
        let part: Fields = ["ETag": Self.tag, "Content-Range": "bytes \(offset)-299/1000"]
        #expect(machine.answered(Self.head(206, part)) == .append(offset..<300))
        #expect(machine.changed() == .askAgain)
        #expect(machine.ask == .whole && !machine.isResumable)
    }

    /// Status, fields, and what they mean at byte 100 of 1000 of the file with the tag "v1".
    static let answers: [(HTTP.Status, Fields, ResumeMachine.Action)] = [
        (200, [:], .startOver), (200, ["ETag": #""v2""#], .startOver), (203, [:], .startOver),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/1000"], .append(100..<1000)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/*"], .append(100..<1000)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-199/1000"], .append(100..<200)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/1000", "Content-Length": "900"], .append(100..<1000)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/1000", "Content-Length": "899"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/1000", "Content-Length": "x"], .askAgain),
        (
            206, ["ETag": tag, "Content-Range": "bytes 100-999/1000", "Content-Encoding": "identity"],
            .append(100..<1000)
        ),
        (206, ["ETag": tag, "Content-Range": "bytes 100-999/1000", "Content-Encoding": "gzip"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 0-999/1000"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 99-999/1000"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 101-999/1000"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes */1000"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "items 100-999/1000"], .askAgain),
        (206, ["ETag": tag], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 100-1000/1001"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 100-998/999"], .askAgain),
        (206, ["ETag": tag, "Content-Range": "bytes 100-1000/*"], .askAgain),
        (206, ["ETag": tag, "Content-Type": "Multipart/Byteranges; boundary=x"], .askAgain),
        (206, ["ETag": #""v2""#, "Content-Range": "bytes 100-999/1000"], .askAgain),
        (206, ["ETag": #"W/"v1""#, "Content-Range": "bytes 100-999/1000"], .askAgain),
        (206, ["Content-Range": "bytes 100-999/1000"], .askAgain),
        (416, ["Content-Range": "bytes */100"], .askAgain), (416, [:], .askAgain),
        (304, [:], .deliver), (401, [:], .deliver), (404, [:], .deliver), (500, [:], .deliver), (204, [:], .deliver),
        (412, [:], .deliver),
    ]

    @Test(arguments: answers)
    func `each answer to a request for the rest has its verdict`(
        status: HTTP.Status, fields: Fields, expected: ResumeMachine.Action
    ) throws {
        var machine = try Self.machine()
        #expect(machine.answered(Self.head(status, fields)) == expected)
        switch expected {
        case .askAgain: #expect(machine.fields == ["Accept-Encoding": "identity"])
        case .startOver: #expect(machine.offset == 0)
        default: #expect(machine.offset == 100)
        }
    }

    @Test func `what is there stays while the whole is asked for after a wrong part, and goes when it comes`() throws {
        var machine = try Self.machine()
        let wrong: Fields = ["ETag": Self.tag, "Content-Range": "bytes 0-9/1000"]
        #expect(machine.answered(Self.head(206, wrong)) == .askAgain)
        #expect(machine.ask == .whole && machine.isResumable && machine.offset == 100)
        #expect(machine.answered(Self.head(404, [:])) == .deliver && machine.isResumable)
        #expect(machine.answered(Self.head(200, ["ETag": Self.tag])) == .startOver)
        machine.wrote(upTo: 500)
        #expect(machine.ask == .rest(from: 500, try #require(Validator(Self.tag))))
    }

    @Test func `an answer to a date need not repeat it, and a different date is not accepted`() throws {
        var machine = try Self.machine(validator: Self.date)
        #expect(machine.answered(Self.head(206, ["Content-Range": "bytes 100-999/1000"])) == .append(100..<1000))
        var other = try Self.machine(validator: Self.date)
        let changed: Fields = [
            "Content-Range": "bytes 100-999/1000", "Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT",
        ]
        #expect(other.answered(Self.head(206, changed)) == .askAgain)
    }

    static let unsatisfied: [(Int?, Fields, ResumeMachine.Action)] = [
        (100, ["Content-Range": "bytes */100"], .complete), (nil, ["Content-Range": "bytes */100"], .complete),
        (nil, ["Content-Range": "bytes */100", "ETag": tag], .complete),
        (nil, ["Content-Range": "bytes */100", "ETag": #""v2""#], .askAgain),
        (1000, ["Content-Range": "bytes */100"], .askAgain), (100, ["Content-Range": "bytes */99"], .askAgain),
        (100, ["Content-Range": "bytes */101"], .askAgain), (100, [:], .askAgain),
        (100, ["Content-Range": "bytes 0-99/100"], .askAgain),
    ]

    @Test(arguments: unsatisfied)
    func `a 416 with the file's own length means that nothing was missing`(
        complete: Int?, fields: Fields, expected: ResumeMachine.Action
    ) throws {
        var machine = try Self.machine(complete: complete)
        #expect(machine.answered(Self.head(416, fields)) == expected)
        if expected == .askAgain { #expect(machine.ask == .whole) }
    }

    /// What a whole response says of going on with it later.
    static let wholes: [(Fields, Bool, Int?)] = [
        (["ETag": tag, "Content-Length": "5"], true, 5), (["ETag": tag], true, nil),
        (["ETag": tag, "Content-Length": "5", "Accept-Ranges": "none"], false, 5),
        (["ETag": tag, "Content-Length": "5", "Content-Encoding": "gzip"], false, nil),
        (["ETag": #"W/"v1""#, "Content-Length": "5"], false, 5), (["Content-Length": "5"], false, 5),
        (["ETag": tag, "Transfer-Encoding": "chunked"], true, nil),
        (["Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:49:37 GMT"], true, nil),
    ]

    @Test(arguments: wholes)
    func `a whole response can be resumed only with a strong validator and no coding`(
        fields: Fields, isResumable: Bool, complete: Int?
    ) {
        var machine = Machine()
        #expect(machine.answered(Self.head(200, fields)) == .startOver)
        #expect(machine.isResumable == isResumable)
        #expect(machine.completeLength == complete)
        machine.wrote(upTo: 3)
        let next = machine.interrupted(by: .error(NetworkError(.connectionClosed, "")))
        #expect(next == (isResumable ? .goOn(after: .milliseconds(500)) : .giveUp))
    }

    @Test func `a 206 that was not asked for is refused`() {
        var machine = Machine()
        #expect(machine.answered(Self.head(206, ["Content-Range": "bytes 0-9/10"])) == .refuse(.unaskedRange))
        #expect(machine.answered(Self.head(416, ["Content-Range": "bytes */0"])) == .deliver)
        #expect(machine.answered(Self.head(404, [:])) == .deliver)
    }
}

// MARK: - Bodies

extension `Resume machine` {
    @Test func `the bytes that an answer left out are asked for again`() throws {
        var machine = try Self.machine()
        let fields: Fields = ["ETag": Self.tag, "Content-Range": "bytes 100-199/1000"]
        #expect(machine.answered(Self.head(206, fields)) == .append(100..<200))
        machine.wrote(upTo: 150)
        #expect(machine.ended() == .tooShort)
        machine.wrote(upTo: 200)
        #expect(machine.ended() == .askAgain)
        #expect(machine.fields["Range"] == "bytes=200-")
        let rest: Fields = ["ETag": Self.tag, "Content-Range": "bytes 200-999/1000"]
        #expect(machine.answered(Self.head(206, rest)) == .append(200..<1000))
        machine.wrote(upTo: 1000)
        #expect(machine.ended() == .complete)
    }

    @Test func `a download asks on until the file's length is known`() throws {
        var machine = try Self.machine(complete: nil)
        let fields: Fields = ["ETag": Self.tag, "Content-Range": "bytes 100-199/*"]
        #expect(machine.answered(Self.head(206, fields)) == .append(100..<200))
        machine.wrote(upTo: 200)
        #expect(machine.ended() == .askAgain)
        #expect(machine.answered(Self.head(416, ["Content-Range": "bytes */200"])) == .complete)
        #expect(machine.completeLength == 200)
    }

    @Test(arguments: ["short", "cut", "broken"])
    func `a server that sends only small pieces is refused after a number of them`(how: String) throws {
        var machine = try Self.machine(complete: nil)
        var count = 0
        while true {
            let start = machine.offset
            let end = how == "short" ? start + 1000 : 1 << 30
            let fields: Fields = ["ETag": Self.tag, "Content-Range": "bytes \(start)-\(end - 1)/*"]
            #expect(machine.answered(Self.head(206, fields)) == .append(start..<end))
            #expect(machine.bodyLimit == end)
            machine.wrote(upTo: start + 1000)
            count += 1
            try #require(count <= 101, "it asks for ever")
            if how != "broken" { #expect(machine.ended() != .complete) }
            if how == "short" {
                if machine.ended() == .tooManySmallPieces { break }
            } else if machine.interrupted(by: .error(NetworkError(.connectionClosed, ""))) == .giveUp {
                break
            }
        }
        #expect(count > 10)
    }

    @Test func `every body whose end is known has a limit`() {
        var machine = Machine()
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Transfer-Encoding": "chunked"]))
        #expect(machine.bodyLimit == nil)
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Content-Length": "9223372036854775807"]))
        #expect(machine.bodyLimit == .max)
        machine.wrote(upTo: 100)
        let rest: Fields = ["ETag": Self.tag, "Content-Range": "bytes 100-199/*"]
        #expect(machine.answered(Self.head(206, rest)) == .append(100..<200))
        #expect(machine.bodyLimit == 200)
    }

    @Test func `a whole file without a declared length ends where its framing ends`() {
        var machine = Machine()
        _ = machine.answered(Self.head(200, ["ETag": Self.tag]))
        machine.wrote(upTo: 7)
        #expect(machine.ended() == .complete)
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Content-Length": "8"]))
        machine.wrote(upTo: 7)
        #expect(machine.ended() == .tooShort)
    }

    static let interruptions: [(ResumeMachine.Interruption, Bool)] = [
        (.error(NetworkError(.connectionClosed, "")), true), (.error(NetworkError(.connectionFailed, "")), true),
        (.error(NetworkError(.nameNotResolved, "")), true),
        (.error(NetworkError(.timedOut, "", phase: .receive)), true),
        (.error(NetworkError(.timedOut, "", phase: .connect)), true),
        (.error(NetworkError(.timedOut, "", phase: .receive, exceeding: .readIdle)), true),
        (.error(NetworkError(.timedOut, "", phase: .receive, exceeding: .total)), false),
        (.error(NetworkError(.timedOut, "", phase: .pool)), false), (.error(NetworkError(.cancelled, "")), false),
        (.error(NetworkError(.invalidResponse, "")), false), (.error(NetworkError(.limitExceeded, "")), false),
        (.error(NetworkError(.serverTrustFailed, "")), false), (.error(NetworkError(.sessionShutDown, "")), false),
        (.status(503), true), (.status(502), true), (.status(429), true), (.status(404), false), (.status(401), false),
    ]

    @Test(arguments: interruptions)
    func `a download is resumed only after an error or status that is temporary`(
        cause: ResumeMachine.Interruption, expected: Bool
    ) {
        var machine = Machine()
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Content-Length": "10"]))
        machine.wrote(upTo: 1)
        #expect((machine.interrupted(by: cause) != .giveUp) == expected)
    }

    @Test func `a download is resumed by itself only after it has received a response`() throws {
        var machine = try Self.machine()
        #expect(machine.interrupted(by: .status(503)) == .giveUp)
        #expect(machine.interrupted(by: .error(NetworkError(.connectionFailed, ""))) == .giveUp)
    }

    @Test func `the attempts without a new byte are limited, and each comes later`() {
        var rules = ResumeMachine.Rules()
        rules.attempts = 4
        rules.longestDelay = .seconds(2)
        var machine = Machine(rules)
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Content-Length": "100"]))
        let broken = ResumeMachine.Interruption.error(NetworkError(.connectionClosed, ""))
        for offset in [1, 2] {
            machine.wrote(upTo: offset)
            for delay in [500, 1000, 2000, 2000] {
                #expect(machine.interrupted(by: broken) == .goOn(after: .milliseconds(delay)))
                #expect(machine.fields["Range"] == "bytes=\(offset)-")
            }
            if offset == 2 { #expect(machine.interrupted(by: broken) == .giveUp) }
        }
        rules.attempts = 0
        machine = Machine(rules)
        _ = machine.answered(Self.head(200, ["ETag": Self.tag, "Content-Length": "100"]))
        #expect(machine.interrupted(by: broken) == .giveUp)
    }

    @Test func `a file that changes each time is refused`() {
        var machine = Machine()
        let broken = ResumeMachine.Interruption.error(NetworkError(.connectionClosed, ""))
        #expect(machine.answered(Self.head(200, ["ETag": #""0""#])) == .startOver)
        for version in 1...3 {
            machine.wrote(upTo: 5)
            #expect(machine.interrupted(by: broken) != .giveUp)
            #expect(machine.answered(Self.head(200, ["ETag": "\"\(version)\""])) == .startOver)
        }
        machine.wrote(upTo: 5)
        #expect(machine.answered(Self.head(200, ["ETag": #""4""#])) == .refuse(.keepsChanging))
    }
}
