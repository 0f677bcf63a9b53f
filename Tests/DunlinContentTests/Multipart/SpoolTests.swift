import Dunlin
import DunlinFoundation
import DunlinTesting
import Folders
import FoundationEssentials
import LedgerRows
import Mocking
import Testing

@testable import DunlinContent
@testable import DunlinTransfers

@Suite(.timeLimit(.minutes(10)))
struct `A body that is spooled` {
    private struct Pieces: AsyncSequence, Sendable {
        typealias Failure = any Error

        var count: Int
        var error: (any Error)?

        func makeAsyncIterator() -> Iterator { Iterator(left: count, error: error) }

        struct Iterator: AsyncIteratorProtocol {
            var left: Int
            var error: (any Error)?

            mutating func next() async throws -> Bytes? {
                if left > 0 {
                    left -= 1
                    return Bytes([UInt8](repeating: 0x61, count: 1000))
                }
                if let error { throw error }
                return nil
            }
        }
    }

    private struct Broken: Error {}

    @Test(.rows("MP-22", "MP-23"), arguments: [0, 1, 64, 66, 1000])
    func `a spooled body is written whole, and sent from the file`(count: Int) async throws {
        let folder = try Folder()
        let path = folder.path + "/form"
        try Data("before".utf8).write(to: URL(filePath: path))
        let form = try RequestBody.multipart(boundary: "B") {
            MultipartPart.field("a", "b")
            MultipartPart.stream("s", contentType: nil, isReplayable: false) { Pieces(count: count) }
        }
        let body = try await form.spooled(to: path)
        let parts = String(repeating: "a", count: count * 1000)
        let text =
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B\r\n"
            + "Content-Disposition: form-data; name=\"s\"\r\n\r\n\(parts)\r\n--B--\r\n"
        #expect(try folder.contents("form") == Bytes(text) && folder.names() == ["form"])
        #expect(body.isReplayable && body.contentType == "multipart/form-data; boundary=B")
        guard case .file(let file) = body.content else {
            Issue.record("no file")
            return
        }
        #expect(file == RequestBody.File(path))
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in .respond() }
        for _ in 0..<2 { _ = try await mocked.session.post("x", body: body, as: .bytes) }
        #expect(mocked.transport.requests.allSatisfy { String($0.body) == text })
    }

    @Test func `any body can be spooled`() async throws {
        let folder = try Folder()
        _ = try await RequestBody.string("text").spooled(to: folder.path + "/a")
        _ = try await RequestBody.file(folder.path + "/a", range: 1..<3).spooled(to: folder.path + "/b")
        _ = try await RequestBody.none.spooled(to: folder.path + "/c")
        #expect(try [folder.contents("a"), folder.contents("b"), folder.contents("c")] == ["text", "ex", ""])
    }

    @Test(.rows("MP-22")) func `a spooled body that cannot be finished leaves the files as they were`() async throws {
        let folder = try Folder()
        let path = folder.path + "/form"
        try Data("before".utf8).write(to: URL(filePath: path))
        await #expect(throws: Broken.self) {
            _ = try await RequestBody.replayable { Pieces(count: 100, error: Broken()) }.spooled(to: path)
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await RequestBody.replayable { Pieces(count: 100) }.spooled(to: path)
        }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(try folder.contents("form") == "before" && folder.names() == ["form"])
        for wrong in [folder.path + "/none/form", folder.path, folder.path + "/a\0b"] {
            let error = try await networkError { _ = try await RequestBody.string("x").spooled(to: wrong) }
            #expect(error?.code == .fileNotWritten && error?.foundationCode == .cannotWriteToFile)
        }
        #expect(try folder.names() == ["form"])
    }
}
