import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// Servers that say which part of a file they send, and send more.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `An answer longer than it says` {
    private static let length = 1 << 20
    private static let start = 300_000
    /// What is said of the part; there is more of the file.
    private static let end = 400_000

    enum Framing: CaseIterable, Sendable {
        case chunked
        case untilClose
    }

    private static func fields(_ range: Range<Int>, of length: Int, _ framing: Framing) -> Fields {
        var fields: Fields = [
            "ETag": #""one""#, "Accept-Ranges": "bytes",
            "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)",
        ]
        fields.append(
            name: framing == .chunked ? "Transfer-Encoding" : "Connection",
            value: framing == .chunked ? "chunked" : "close")
        return fields
    }

    /// A part, and what comes after it in the same body.
    private static func reply(
        _ range: Range<Int>, of length: Int, _ framing: Framing, then more: Int, _ gate: LoopbackServer.Gate? = nil
    ) -> LoopbackServer.Reply {
        let bytes = LoopbackServer.GeneratedBody.bytes(range.lowerBound..<range.upperBound + more)
        let size = framing == .chunked ? Bytes("\(String(bytes.count, radix: 16))\r\n") : .empty
        let head = LoopbackServer.Reply([
            .message(.init(.partialContent, fields: fields(range, of: length, framing)))
        ])
        let body = head.then(.send(size), .send(bytes))
        if let gate { return body.then(.waitForSignal(gate), .close) }
        return framing == .chunked ? body.then(.send(Bytes("\r\n0\r\n\r\n"))) : body.then(.close)
    }

    /// Leaves the beginning of a file, and the record of it.
    private static func leave(_ file: ServedFile, in folder: Folder, _ stage: Stage) async throws {
        file.change { $0.faults = [.stall(after: start)] }
        file.serve(on: stage)
        let task = try stage.session.downloadTask("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
        task.resume()
        try await stage.eventually("much has come") { task.downloaded.wireBytes == start }
        _ = try #require(await task.cancelProducingResumeData())
        file.change { $0.faults = [] }
    }

    @Test(arguments: Framing.allCases, [1, 600_000])
    func `an answer fails as soon as a byte would pass its range, and none of it counts`(
        framing: Framing, more: Int
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            try await Self.leave(file, in: folder, stage)
            // The server neither ends the body nor closes.
            let gate = LoopbackServer.Gate()
            file.change { state in
                state.instead = { _ in
                    Self.reply(Self.start..<Self.end, of: Self.length, framing, then: more, gate)
                }
            }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            }
            gate.open()
            #expect(error.code == .invalidResponse)
            #expect(error.response?.status == .partialContent)
            #expect(error.resumeData?.byteCount == Self.start, "it may have sent anything")
            #expect(try folder.names() == [".file.dunlin-part", ".file.dunlin-record"])
            let whole = try await stage.session.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            #expect(whole.value.resumedAt == Self.start)
            #expect(stage.server.ranges.last == "bytes=\(Self.start)-")
            #expect(try folder.contents("file") == file.contents)
        }
    }

    @Test(arguments: Framing.allCases)
    func `an answer is taken for the last part only if it ends with the file`(framing: Framing) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for more in [0, 1] {
                try await Self.leave(file, in: folder, stage)
                file.change { state in
                    state.instead = { _ in
                        Self.reply(Self.start..<Self.length, of: Self.length, framing, then: more)
                    }
                }
                if more == 0 {
                    let response = try await stage.session.download(
                        "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
                    #expect(response.value.byteCount == Self.length && response.value.resumedAt == Self.start)
                    #expect(try folder.contents("file") == file.contents)
                    try FileManager.default.removeItem(atPath: "\(folder.path)/file")
                } else {
                    let error = try await NetworkError.thrown {
                        _ = try await stage.session.download(
                            "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
                    }
                    #expect(error.code == .invalidResponse)
                    #expect(try !folder.names().contains("file"))
                }
            }
        }
    }

    @Test(arguments: Framing.allCases, [1, 200_000])
    func `a segment longer than it says fails its download, which leaves nothing behind`(
        framing: Framing, more: Int
    ) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length, held: 1000)
        file.change { state in
            state.instead = { request in
                let ends = (request.fields["range"] ?? "").dropFirst("bytes=".count).split(separator: "-")
                guard let start = ends.first.flatMap({ Int($0) }) else { return .response(400) }
                // Of what was asked for it says that it brings half, and brings more.
                let end = ends.count > 1 ? (Int(ends[1]) ?? 0) + 1 : Self.length
                let half = start + (end - start) / 2
                return Self.reply(start..<half, of: Self.length, framing, then: more)
            }
        }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            var options = HTTPSession.DownloadOptions(resuming: .ifValidatorMatches)
            options.segments = HTTPSession.Segments(4, minimumLength: 64 << 10)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
            }
            file.gate.open()
            #expect(error.code == .invalidResponse)
            #expect(error.resumeData == nil)
            #expect(try folder.names().isEmpty)
            try await stage.expectHealthy()
        }
    }
}
