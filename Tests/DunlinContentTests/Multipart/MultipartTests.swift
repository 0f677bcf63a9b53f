import Dunlin
import DunlinFoundation
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinContent
@testable import DunlinTransfers

@Suite(.timeLimit(.minutes(10)))
struct `Multipart forms` {
    private struct Pieces: AsyncSequence, Sendable {
        typealias Failure = any Error

        var pieces: [Bytes]
        var error: (any Error)?

        func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces[...], error: error) }

        struct Iterator: AsyncIteratorProtocol {
            var pieces: ArraySlice<Bytes>
            var error: (any Error)?

            mutating func next() async throws -> Bytes? {
                if let piece = pieces.popFirst() { return piece }
                if let error { throw error }
                return nil
            }
        }
    }

    private static func text(_ body: RequestBody) async throws -> String {
        switch body.content {
        case .bytes(let bytes): return String(bytes)
        case .stream(_, _, let make): return String(try await collected(make()))
        case .none, .file: return ""
        }
    }

    private static func collected(_ chunks: some RequestBody.Chunks) async throws -> Bytes {
        var bytes: [UInt8] = []
        for try await chunk in chunks { bytes += chunk.array }
        return Bytes(bytes)
    }

    private static func length(_ body: RequestBody) -> Int? {
        switch body.content {
        case .bytes(let bytes): bytes.count
        case .stream(let length, _, _): length
        case .none, .file: nil
        }
    }

    @Test(.rows("MP-2", "MP-3", "MP-4", "MP-7", "MP-8", "MP-9", "MP-15", "MP-26", "MP-27"), .rules("9110-8.3.3-2"))
    func `a multipart form is written part by part, in order`() async throws {
        let folder = try Folder()
        let (path, empty) = (try folder.write("JPEG", as: "a.jpg"), try folder.write("", as: "empty.txt"))
        let body = try RequestBody.multipart(boundary: "B") {
            MultipartPart.field("title", "Wäders")
            MultipartPart.data("raw", "123", fileName: "r.bin")
            MultipartPart.data("json", "{}", contentType: .json)
            MultipartPart.file("photo", at: path)
            if path.isEmpty { MultipartPart.field("never", "") }
            for index in 0..<2 { MultipartPart.field("n", "\(index)") }
            MultipartPart.stream("s", length: 4, contentType: nil) { Pieces(pieces: ["ab", "", "cd"]) }
            MultipartPart.custom(["Content-ID": "<x>"], "c")
            MultipartPart.custom([:], "")
            MultipartPart.field("blank", "")
            MultipartPart.data("none", "", fileName: "none.bin")
            MultipartPart.file("empty", at: empty, contentType: .plainText)
            MultipartPart.stream("dry", length: 0, contentType: nil) { Pieces(pieces: []) }
        }
        let expected = """
            --B
            Content-Disposition: form-data; name="title"

            Wäders
            --B
            Content-Disposition: form-data; name="raw"; filename="r.bin"
            Content-Type: application/octet-stream

            123
            --B
            Content-Disposition: form-data; name="json"
            Content-Type: application/json

            {}
            --B
            Content-Disposition: form-data; name="photo"; filename="a.jpg"
            Content-Type: image/jpeg

            JPEG
            --B
            Content-Disposition: form-data; name="n"

            0
            --B
            Content-Disposition: form-data; name="n"

            1
            --B
            Content-Disposition: form-data; name="s"

            abcd
            --B
            Content-ID: <x>

            c
            --B


            --B
            Content-Disposition: form-data; name="blank"


            --B
            Content-Disposition: form-data; name="none"; filename="none.bin"
            Content-Type: application/octet-stream


            --B
            Content-Disposition: form-data; name="empty"; filename="empty.txt"
            Content-Type: text/plain


            --B
            Content-Disposition: form-data; name="dry"


            --B--

            """.replacing("\n", with: "\r\n")
        #expect(try await Self.text(body) == expected)
        #expect(Self.length(body) == expected.utf8.count)
        #expect(body.contentType == "multipart/form-data; boundary=B" && body.isReplayable)
        #expect(try await Self.text(body) == expected, "a second time")
    }

    @Test(.rows("MP-5"), arguments: [1, 2, 3, 7, 1024, 64 * 1024])
    func `a multipart form is the same in pieces of any size`(size: Int) async throws {
        let folder = try Folder()
        let path = try folder.write((0..<5000).map { UInt8(truncatingIfNeeded: $0) }, as: "f")
        let big = Bytes([UInt8](repeating: 9, count: 66_000))
        let parts = [MultipartPart.field("a", "b"), .file("f", at: path), .data("d", big), .field("", "")]
        let form = try MultipartForm(parts, boundary: "B")
        let whole = try await Self.collected(MultipartChunks(form: form))
        #expect(whole.count == form.length)
        var chunks = MultipartChunks(form: form)
        chunks.pieceSize = size
        var (bytes, sizes) = ([UInt8](), Set<Int>())
        for try await chunk in chunks {
            sizes.insert(chunk.count)
            bytes += chunk.array
        }
        #expect(Bytes(bytes) == whole)
        #expect(sizes.allSatisfy { (1...size).contains($0) })
    }

    static let names: [(String, String)] = [
        ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nX: 1", "a%0D%0AX: 1"), ("a\\b;c=d%22", "a\\b;c=d%22"),
        ("ü游😀", "ü游😀"), ("", ""), ("a\0b", "a%00b"),
    ]

    @Test(.rows("MP-10"), arguments: names)
    func `characters that would end a part's name are escaped as browsers do`(name: String, escaped: String) {
        let part = MultipartPart.data(name, "", fileName: name, contentType: nil)
        #expect(Array(part.fields).map(\.value) == ["form-data; name=\"\(escaped)\"; filename=\"\(escaped)\""])
        #expect(part.fields.count == 1)
    }

    static let types: [(String, String)] = [
        ("a.jpg", "image/jpeg"), ("/x/A.JPEG", "image/jpeg"), ("c.cer", "application/x-x509-ca-cert"),
        ("x", "application/octet-stream"),
        (".png", "application/octet-stream"), ("a.b/c", "application/octet-stream"), ("a.tar.gz", "application/gzip"),
        ("a.", "application/octet-stream"), ("", "application/octet-stream"), ("r.json", "application/json"),
        ("t.txt", "text/plain"), ("v.mp4", "video/mp4"), ("a.no such", "application/octet-stream"),
    ]

    @Test(.rows("MP-11", "AP-10"), arguments: types)
    func `a file's extension decides its content type`(name: String, type: String) {
        #expect(HTTP.ContentType(fileName: name).rawValue == type)
    }

    @Test(.rows("MP-11", "AP-10")) func `a table of content types is read as other programs read it`() {
        let table = HTTP.ContentType.table("# c\ntext/x-a\ta A2 # no\n\ntext/x-b a b\nnonsense c\ntext/x-d")
        #expect(table == ["a": "text/x-a", "a2": "text/x-a", "b": "text/x-b"])
    }

    @Test(.rows("HS-22", "MP-6")) func `parameters come first in a form, by the rules of queries`() async throws {
        let parameters: HTTP.Parameters = [
            "b": [1, true], "a": ["x y": nil], "d": .data([0x80]), "e": [], "c": .set([10, 9]),
        ]
        let body = try RequestBody.multipart(parameters: parameters, boundary: "B") { MultipartPart.field("last", "z") }
        guard case .bytes(let bytes) = body.content else { return }
        let names = String(bytes).split(separator: "\r\n").filter { $0.hasPrefix("Content-Disposition") }
            .map { String($0.split(separator: "\"")[1]) }
        #expect(names == ["a[x y]", "b[]", "b[]", "c", "c", "d", "last"])
        #expect(bytes.contains(0x80))
        #expect(
            try RequestBody.multipart(parameters: ["a": 1], boundary: "B").contentType?.hasPrefix("multipart/") == true)
    }

    @Test(.rows("MP-16")) func `a multipart form without parts becomes an empty form of pairs`() async throws {
        let body = try RequestBody.multipart {}
        #expect(body.contentType == "application/x-www-form-urlencoded")
        #expect(try await Self.text(body).isEmpty)
    }

    @Test(.rows("MP-17"), .rules("9110-8.3-1"))
    func `a form is sent with its own Content-Type, whatever other fields say`() async throws {
        let mocked = try Mocked { $0.fields["Content-Type"] = "application/json" }
        mocked.transport.otherwise { _ in .respond() }
        let body = try RequestBody.multipart(boundary: "B") { MultipartPart.field("a", "b") }
        let options = HTTPSession.Options(fields: ["content-type": "multipart/form-data"])
        _ = try await mocked.session.post("x", body: body, as: .bytes)
        _ = try await mocked.session.post("x", body: body, options: options, as: .bytes)
        for request in mocked.transport.requests {
            #expect(request.fields.values(of: "Content-Type") == ["multipart/form-data; boundary=B"])
        }
    }

    @Test(.rows("MP-2"), .rules("9110-8.3.3-1"))
    func `each form has a boundary of its own, and an unfit boundary is refused`() throws {
        let types = try Set(
            (0..<50).map { _ in try #require(RequestBody.multipart { MultipartPart.field("a", "") }.contentType) })
        #expect(types.count == 50)
        for type in types {
            let boundary = type.split(separator: "=")[1]
            #expect(boundary.hasPrefix("Boundary+") && boundary.utf8.count == 25)
            #expect(boundary.dropFirst(9).allSatisfy { $0.isHexDigit && !$0.isLowercase })
        }
        for wrong in ["", String(repeating: "b", count: 71), "a b", "a\r\n", "ä", "a\"b"] {
            let error = #expect(throws: NetworkError.self) {
                try RequestBody.multipart(boundary: wrong) { MultipartPart.field("a", "") }
            }
            #expect(error?.code == .invalidPart)
        }
    }

    @Test(.rows("MP-12", "MP-13", "MP-15")) func `a form with a part that cannot be sent is refused`() throws {
        let folder = try Folder()
        let web = try #require(URL(string: "http://a.test/a.jpg"))
        let cases: [(MultipartPart, String)] = [
            (.file("f", at: "\(folder.path)/none"), "File URL not reachable."),
            (.file("f", at: folder.path), "File URL not reachable."),
            (.file("f", at: "/dev/null"), "File URL not reachable."),
            (.file("f", at: ""), "File URL not reachable."), (.file("f", at: "a\0b"), "File URL not reachable."),
            (.file("f", at: web), "Expected URL to be a file URL"),
            (.custom(["X": "a\r\nb"], ""), "a field of the part \"without a name\" cannot be sent"),
            (.custom(["a b": ""], ""), "a field of the part \"without a name\" cannot be sent"),
            (.data("d", "", contentType: "a/b\r\nX: 1"), "a field of the part \"d\" cannot be sent"),
            (.stream("s", length: -1) { Pieces(pieces: []) }, "the part \"s\" has the negative length -1"),
        ]
        for (part, reason) in cases {
            let error = #expect(throws: NetworkError.self) { try RequestBody.multipart { part } }
            #expect(error?.code == .invalidPart && error?.reason == reason)
            #expect(error?.foundationCode == .init("com.alamofire.error.serialization.request", -1000))
        }
        let path = try folder.write([1], as: "there")
        _ = try RequestBody.multipart { MultipartPart.file("f", at: URL(filePath: path)) }
    }

    @Test(.rows("MP-1"), arguments: ["GET", "HEAD", "get", "Head"] as [HTTP.Method])
    func `a form is refused with a method that has no body`(method: HTTP.Method) async throws {
        let mocked = try Mocked()
        let error = try await networkError {
            let body = try RequestBody.multipart { MultipartPart.field("a", "b") }
            _ = try await mocked.session.request("x", method: method, body: body, as: .bytes)
        }
        #expect(error?.code == .invalidRequest && mocked.transport.requests.isEmpty)
    }

    @Test(.rows("MP-25")) func `the error of a form says which part failed, and how`() async throws {
        struct Broken: Error {}
        let folder = try Folder()
        let path = try folder.write([1, 2, 3], as: "f")
        let cases: [(MultipartPart, NetworkError.Code, String)] = [
            (
                .stream("s", length: 3) { Pieces(pieces: ["ab"]) }, .bodyLengthMismatch,
                "the part \"s\" is 1 bytes shorter than announced"
            ),
            (
                .stream("s", length: 3) { Pieces(pieces: ["ab", "cd"]) }, .bodyLengthMismatch,
                "the part \"s\" is longer than announced"
            ),
            (
                .stream("s") { Pieces(pieces: ["ab"], error: Broken()) }, .invalidPart,
                "the part \"s\" could not be read"
            ),
            (.file("f", at: path), .bodyLengthMismatch, "the part \"f\" could not be read"),
        ]
        let bodies = try cases.map { part, _, _ in try RequestBody.multipart { part } }
        try Data([1]).write(to: URL(filePath: path))
        for (body, (_, code, reason)) in zip(bodies, cases) {
            let error = try await networkError { _ = try await Self.text(body) }
            #expect(error?.code == code && error?.reason == reason)
        }
    }

    @Test(.rows("MP-20")) func `a form with a part that can be made only once is sent only once`() async throws {
        let body = try RequestBody.multipart {
            MultipartPart.field("a", "b")
            MultipartPart.stream("s", isReplayable: false) { Pieces(pieces: ["x"]) }
        }
        #expect(!body.isReplayable && body.canBeSent && Self.length(body) == nil)
        _ = try await Self.text(body)
        #expect(!body.canBeSent)
        let error = try await networkError { _ = try await Self.text(body) }
        #expect(error?.code == .bodyConsumed)
    }

    @Test(arguments: [[Int.max], [.max, .max], [.max - 1, 5], [1 << 62, 1 << 62]])
    func `a form has no length where no number can hold it`(lengths: [Int]) throws {
        let parts = lengths.map { length in MultipartPart.stream("s", length: length) { Pieces(pieces: []) } }
        for after in [
            [], [MultipartPart.field("a", "b")],
            [MultipartPart.data("a", Bytes([UInt8](repeating: 0, count: 100_000)))],
        ] {
            #expect(try MultipartForm(parts + after, boundary: "B").length == nil)
        }
    }

    @Test(.rows("MP-18")) func `each part of a form is opened only when its turn comes`() async throws {
        let folder = try Folder()
        let opened = Mutex<[String]>([])
        let path = try folder.write([UInt8](repeating: 1, count: 600_000), as: "f")
        let body = try RequestBody.multipart {
            MultipartPart.stream("one", length: 1) {
                opened.withLock { $0.append("one") }
                return Pieces(pieces: ["1"])
            }
            MultipartPart.file("two", at: path)
            MultipartPart.stream("three", length: 1) {
                opened.withLock { $0.append("three") }
                return Pieces(pieces: ["3"])
            }
        }
        guard case .stream(_, _, let make) = body.content else { return }
        #expect(opened.withLock(\.self) == [])
        var largest = 0
        for try await chunk in AnyChunks(make()) {
            largest = max(largest, chunk.count)
            if chunk.count > 100_000 { #expect(opened.withLock(\.self) == ["one"]) }
        }
        #expect(opened.withLock(\.self) == ["one", "three"])
        #expect(largest <= 256 * 1024)
    }
}

/// A sequence whose type is not known, to be iterated in a test.
private struct AnyChunks: AsyncSequence {
    typealias Element = Bytes
    let chunks: any RequestBody.Chunks

    init(_ chunks: any RequestBody.Chunks) { self.chunks = chunks }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: Self.iterator(chunks)) }

    private static func iterator(_ chunks: some RequestBody.Chunks) -> any AsyncIteratorProtocol<Bytes, any Error> {
        chunks.makeAsyncIterator()
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        mutating func next() async throws -> Bytes? { try await chunks.next(isolation: nil) }
    }
}
