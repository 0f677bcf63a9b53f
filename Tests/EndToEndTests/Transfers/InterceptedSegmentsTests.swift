import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

/// Nobody knows whether what an interceptor puts in the place of a part is the file's.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A segment and an interceptor` {
    private static let length = 4 << 20

    @Test(arguments: [false, true])
    func `a segment whose body an interceptor replaced is not put into the file`(isAroundCall: Bool) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 100_000)
        let replaced = Atomic(0)
        let replace: HTTPSession.Interception.Intercept = { request, next in
            let response = try await next(request)
            guard response.head.status == .partialContent else { return response }
            let whole = try await response.collected(upTo: Self.length)
            guard case .bytes(let bytes) = whole.body else { return whole }
            replaced.add(1, ordering: .relaxed)
            return whole.with { $0.body = .bytes(Bytes(Array(repeating: 7, count: bytes.count))) }
        }
        try await Stage.with(tolerating: true) { configuration in
            configuration.interceptors = [isAroundCall ? .call(replace) : .exchange(replace)]
        } _: { (stage: Stage) async throws in
            file.serve(on: stage)
            var options = HTTPSession.DownloadOptions()
            options.segments = HTTPSession.Segments(4, minimumLength: 512 << 10)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("nobody asks for a part any more") {
                replaced.load(ordering: .relaxed) > 0 && stage.session.connections.leased == 1
            }
            // The first exchange brings all of it.
            file.gate.open()
            #expect(try await task.value.byteCount == Self.length)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
            #expect(stage.server.partCount <= 3)
            #expect(stage.server.ranges.count { $0 == nil } == 1, "the whole was asked for once")
        }
    }
}
