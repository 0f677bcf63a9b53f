import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `An upload that is sent again` {
    typealias Progress = HTTPSession.TransferProgress

    private static let count = 300_000

    /// Why it is.
    enum Cause: CaseIterable, Sendable {
        /// The server leads elsewhere once it has all.
        case redirectAfter
        /// The server leads elsewhere before it has anything.
        case redirectBefore
        /// The connection was kept and is dead.
        case deadConnection

        func prepare(_ stage: Stage, _ status: HTTP.Status) async throws {
            let redirect = LoopbackServer.Reply.response(status, fields: ["Location": "/to"])
            switch self {
            case .redirectAfter: stage.server.enqueue(redirect)
            case .redirectBefore: stage.server.enqueue(redirect.beforeBody)
            case .deadConnection:
                stage.server.enqueue(.response().closingOnNextRequest)
                _ = try await stage.session.get("first", as: .bytes)
            }
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
        }
    }

    enum Kind: CaseIterable, Sendable {
        case bytes
        case file
        case knownStream
        case unknownStream

        func body(_ count: Int, _ file: `File bodies`.Scratch) -> RequestBody {
            switch self {
            case .bytes: .bytes(LoopbackServer.GeneratedBody.bytes(0..<count))
            case .file: .file(file.path)
            case .knownStream: .replayable(length: count) { UploadPieces(total: count) }
            case .unknownStream: .replayable { UploadPieces(total: count) }
            }
        }
    }

    @Test(arguments: Kind.allCases, Cause.allCases)
    func `an upload sent again starts at its beginning, and its progress never goes back`(kind: Kind, cause: Cause)
        async throws
    {
        let file = try `File bodies`.Scratch(Self.count)
        for status in [307, 308] as [HTTP.Status] {
            try await Stage.with(tolerating: true) { (stage: Stage) async throws in
                try await cause.prepare(stage, status)
                let body = kind.body(Self.count, file)
                let task = try stage.session.task("from", method: .put, body: body, as: .string)
                async let heard = Self.all(task.uploadProgress)
                #expect(try await task.value == "\(LoopbackServer.GeneratedBody.hash(length: Self.count))")
                let steps = await heard
                for (one, next) in zip(steps, steps.dropFirst()) { #expect(one.wireBytes <= next.wireBytes) }
                // Of the last sending alone: what went in vain is not added to it.
                #expect(steps.last?.wireBytes == Self.count)
                #expect(steps.last?.totalBytes == (kind == .unknownStream ? nil : Self.count))
                #expect(steps.allSatisfy { ($0.fraction ?? 0) <= 1 })
            }
        }
    }

    @Test(arguments: [307, 308] as [HTTP.Status])
    func `an upload whose body is not replayable is not sent again`(status: HTTP.Status) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            try await Cause.redirectAfter.prepare(stage, status)
            let error = try await NetworkError.thrown {
                let body = RequestBody.stream(UploadPieces(total: Self.count))
                _ = try await stage.session.put("from", body: body, as: .bytes)
            }
            #expect(error.code == .bodyNotReplayable)
            #expect(stage.server.requests.count == 1)
        }
    }

    private static func all(_ stream: AsyncStream<Progress>) async -> [Progress] {
        var all: [Progress] = []
        for await step in stream { all.append(step) }
        return all
    }
}
