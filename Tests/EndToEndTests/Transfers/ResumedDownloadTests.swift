import Children
import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Synchronization
import Testing

/// Downloads that break, are stopped, and go on where they were.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A download that goes on` {
    typealias Options = HTTPSession.DownloadOptions
    typealias Handle = HTTPSession.RequestTask<HTTPSession.DownloadedFile>

    /// Waits for the end, while the clock moves.
    private static func end(of task: Handle, _ clock: ManualClock) async throws {
        task.resume()
        try await clock.advance(by: .seconds(1), until: "the download is over") {
            task.resultIfEnded != nil
        }
    }

    @Test(.rows("SM-95"), .rules("9110-13.1.5-1"))
    func `a download that breaks asks for the rest each time, and is whole in the end`()
        async throws
    {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let entity = ServedFile(1 << 20, cuts: [100_000, 200_000, 300_000, 100_000])
            entity.serve(on: stage)
            let events = stage.session.events
            let task = try stage.session.downloadTask("file", to: .folder(folder.path))
            try await Self.end(of: task, clock)
            let response = try await task.response
            #expect(response.value.byteCount == 1 << 20)
            #expect(response.value.resumedAt == 0)
            #expect(response.metrics.hops.count == 5)
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
            #expect(stage.server.ranges == [nil, "bytes=100000-", "bytes=300000-", "bytes=600000-", "bytes=700000-"])
            #expect(stage.server.requests.allSatisfy { $0.fields["accept-encoding"] == "identity" })
            #expect(stage.server.requests.dropFirst().allSatisfy { $0.fields["if-range"] == #""one""# })
            #expect(task.downloaded.wireBytes == 1 << 20 && task.downloaded.fraction == 1)
            var offsets: [Int] = []
            for await event in events {
                if case .downloadResumed(_, let offset, let length) = event {
                    offsets.append(offset)
                    #expect(length == 1 << 20)
                }
                if case .completed = event { break }
            }
            #expect(offsets == [100_000, 300_000, 600_000, 700_000])
        }
    }

    @Test func `a download fails after three attempts in a row without a new byte`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let entity = ServedFile(1 << 20, cuts: [1000, 0, 0, 500, 0, 0, 0, 0])
            entity.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path))
            try await Self.end(of: task, clock)
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .connectionClosed)
            #expect(error.resumeData == nil && task.resumeData == nil)
            #expect(stage.server.requests.count == 7)
            #expect(try folder.names().isEmpty)
            guard case .failure = task.resultIfEnded else { return }
        }
    }

    @Test(arguments: [nil, #"W/"weak""#, #""one" none"#, "never"] as [String?])
    func `a download does not go on where nothing tells that the file is still the same`(tag: String?) async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let entity = ServedFile(1 << 20, cuts: [100_000])
            entity.change { state in
                if tag != "never" { state.entity.tag = tag?.replacing(" none", with: "") }
                state.entity.hasRanges = tag?.hasSuffix("none") != true
            }
            entity.serve(on: stage)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "file", to: .folder(folder.path), resuming: tag == "never" ? .never : .ifValidatorMatches)
            }
            #expect(error.code == .connectionClosed)
            #expect(stage.server.requests.count == 1)
            #expect(try folder.names().isEmpty)
        }
    }

    /// Leaves 100,000 bytes of a file, and the record of them.
    private static func leave(
        _ entity: ServedFile, in folder: Folder, _ stage: Stage, at target: HTTP.Target = "file"
    ) async throws -> ResumeData {
        entity.change { $0.faults = [.stall(after: 100_000)] }
        entity.serve(on: stage)
        let task = try stage.session.downloadTask(target, to: .folder(folder.path), resuming: .ifValidatorMatches)
        task.resume()
        try await stage.eventually("much has come") { task.downloaded.wireBytes == 100_000 }
        task.cancel()
        let error = try await NetworkError.thrown { _ = try await task.value }
        let data = try #require(error.resumeData)
        #expect(task.resumeData == data)
        #expect(data.offset == 100_000 && data.completeLength == 1 << 20)
        #expect(try folder.names() == [".file.dunlin-part", ".file.dunlin-record"])
        entity.change { $0.faults = [] }
        return data
    }

    @Test(.rows("SM-34"))
    func `a download in another session finds the part left behind, and asks for the rest`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            let other = try HTTPSession(stage.session.configuration)
            let steps = Mutex<[HTTPSession.TransferProgress]>([])
            let response = try await other.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches
            ) { step in steps.withLock { $0.append(step) } }
            #expect(response.value.resumedAt == 100_000)
            #expect(response.value.byteCount == 1 << 20)
            #expect(stage.server.ranges.last == "bytes=100000-")
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
            let moving = steps.withLock { $0 }.filter { $0.totalBytes != nil }
            #expect(moving.allSatisfy { $0.wireBytes >= 100_000 && $0.totalBytes == 1 << 20 && $0.fraction ?? 2 <= 1 })
            #expect(moving.last?.fraction == 1)
            await other.shutdown()
        }
    }

    @Test(.rows("SM-67"), .rules("9110-14.2-1"))
    func `a download begins anew if the file changed, the URL is another, or ranges are unknown`() async throws {
        for change in ["changed", "elsewhere", "ignored"] {
            let folder = try Folder()
            let entity = ServedFile(1 << 20)
            try await Stage.with(tolerating: true) { (stage: Stage) async throws in
                _ = try await Self.leave(entity, in: folder, stage)
                entity.change { state in
                    if change == "changed" {
                        state.entity = state.entity.changed
                        state.entity.length = 500_000
                    }
                    state.entity.hasRanges = change != "ignored"
                }
                let target: HTTP.Target = change == "elsewhere" ? "other/file" : "file"
                let response = try await stage.session.download(
                    target, to: .folder(folder.path), resuming: .ifValidatorMatches)
                #expect(response.value.resumedAt == 0)
                #expect(stage.server.ranges.last == .some(change == "elsewhere" ? nil : "bytes=100000-"))
                #expect(try folder.contents("file") == entity.contents)
                #expect(try folder.names() == ["file"])
            }
        }
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reply: LoopbackServer.Reply
        /// Nil: the whole is asked for, and comes.
        var code: NetworkError.Code?
        var isComplete = false
    }

    private static func part(_ fields: Fields, _ status: HTTP.Status = .partialContent, body: Int = 10)
        -> LoopbackServer.Reply
    {
        .response(status, fields: fields, body: LoopbackServer.GeneratedBody.bytes(0..<body))
    }

    static let answers: [Answer] = [
        Answer(
            testDescription: "another part",
            reply: part(["ETag": #""one""#, "Content-Range": "bytes 0-9/1048576"])),
        Answer(
            testDescription: "another length",
            reply: part(["ETag": #""one""#, "Content-Range": "bytes 100000-100009/100010"])),
        Answer(testDescription: "no range", reply: part(["ETag": #""one""#])),
        Answer(
            testDescription: "several parts",
            reply: part(["ETag": #""one""#, "Content-Type": "multipart/byteranges; boundary=x"])),
        Answer(
            testDescription: "coded",
            reply: part([
                "ETag": #""one""#, "Content-Range": "bytes 100000-100009/1048576", "Content-Encoding": "gzip",
            ])),
        Answer(
            testDescription: "another tag",
            reply: part(["ETag": #""two""#, "Content-Range": "bytes 100000-100009/1048576"])),
        Answer(testDescription: "no tag", reply: part(["Content-Range": "bytes 100000-100009/1048576"])),
        Answer(testDescription: "416", reply: part(["Content-Range": "bytes */50000"], 416, body: 0)),
        Answer(testDescription: "404", reply: part([:], 404), code: .unacceptableStatus),
    ]

    @Test(.rows("SM-67", "OP-6"), .rules("9110-14.4-1"), arguments: answers)
    func `a download takes nothing for the rest of its file that is not`(answer: Answer) async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            entity.change { $0.instead = { _ in answer.reply } }
            do {
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
                #expect(answer.code == nil)
                #expect(stage.server.ranges.suffix(2) == ["bytes=100000-", nil])
                #expect(try folder.names() == ["file"])
            } catch let error as NetworkError {
                #expect(error.code == answer.code)
                #expect(error.resumeData?.offset == 100_000)
                #expect(try folder.names() == [".file.dunlin-part", ".file.dunlin-record"])
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
                #expect(stage.server.ranges.last == "bytes=100000-")
            }
            #expect(try folder.contents("file") == entity.contents)
        }
    }

    @Test(.rows("SM-67"), .rules("9110-15.5.17-1"))
    func `a download whose bytes are all there becomes the file without another byte`()
        async throws
    {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let data = try await Self.leave(entity, in: folder, stage)
            // The rest comes by another way, as when a process dies between the last byte and the naming.
            let task = try stage.session.downloadTask(resumeData: data, to: .file("\(folder.path)/file"))
            let gate = LoopbackServer.Gate()
            entity.change { state in
                state.instead = { _ in
                    LoopbackServer.Reply.response(
                        .partialContent,
                        fields: [
                            "ETag": #""one""#, "Content-Range": "bytes 100000-1048575/*",
                            "Transfer-Encoding": "chunked",
                        ]
                    ).then(
                        .send(Bytes("\(String(948_576, radix: 16))\r\n")),
                        .send(LoopbackServer.GeneratedBody.bytes(100_000..<1 << 20)), .waitForSignal(gate))
                }
            }
            task.resume()
            try await stage.eventually("all has come") { task.downloaded.wireBytes == 1 << 20 }
            let rest = try #require(await task.cancelProducingResumeData())
            gate.open()
            #expect(rest.offset == 1 << 20)
            let file = try await stage.session.download(resumeData: rest, to: .file("\(folder.path)/file")).value
            #expect(stage.server.ranges.last == "bytes=1048576-")
            #expect(file.resumedAt == 1 << 20 && file.byteCount == 1 << 20)
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test(.rows("SM-24", "SM-67", "OP-6", "LX-9"))
    func `a download can be cancelled and resumed any number of times, from another URL too`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            entity.serve(on: stage)
            var task = try stage.session.downloadTask("file?signed=0", to: .file("\(folder.path)/file"))
            for step in 1...5 {
                entity.change { $0.faults = [.stall(after: 100_000)] }
                task.resume()
                try await stage.eventually("more has come") { task.downloaded.wireBytes == step * 100_000 }
                let data = try #require(await task.cancelProducingResumeData())
                #expect(data.offset == step * 100_000)
                #expect(await task.cancelProducingResumeData() == data)
                await #expect(throws: NetworkError.self) { try await task.value }
                let kept = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data))
                #expect(kept == data)
                entity.change { $0.faults = [] }
                task = try stage.session.downloadTask(
                    resumeData: kept, from: "file?signed=\(step)", to: .file("\(folder.path)/file"))
            }
            let file = try await task.value
            #expect(file.resumedAt == 500_000)
            #expect(stage.server.requests.last?.target == "/file?signed=5")
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test func `a download not yet begun gives back the resume data it was made with`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let data = try await Self.leave(entity, in: folder, stage)
            let task = try stage.session.downloadTask(resumeData: data, to: .file("\(folder.path)/file"))
            #expect(await task.cancelProducingResumeData() == data)
            let fresh = try stage.session.downloadTask("file", to: .folder(folder.path))
            #expect(await fresh.cancelProducingResumeData() == nil)
        }
    }

    @Test(.rows("SM-68"), arguments: ["gone", "short", "other", "link", "folder"], [nil, true, false] as [Bool?])
    func `a download from a damaged part fails, or begins anew if told to`(damage: String, startsOver: Bool?)
        async throws
    {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let data = try await Self.leave(entity, in: folder, stage)
            let part = "\(folder.path)/.file.dunlin-part"
            #expect(data.partPath == part)
            switch damage {
            case "gone": try FileManager.default.removeItem(atPath: part)
            case "link", "folder":
                try folder.remove(".file.dunlin-part")
                if damage == "link" { symlink("/dev/null", part) } else { try folder.make(".file.dunlin-part") }
            case "short": try Data(repeating: 1, count: 50_000).write(to: URL(filePath: part))
            default: try Data(repeating: 1, count: 100_000).write(to: URL(filePath: part))
            }
            var options = Options()
            options.startsOverIfDamaged = startsOver
            if startsOver == true {
                _ = try await stage.session.download(resumeData: data, to: .folder(folder.path), transfer: options)
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download(resumeData: data, to: .folder(folder.path), transfer: options)
                }
                #expect(error.code == .invalidResumeData)
                #expect(error.resumeData == nil)
                // What lies beside the destination is no promise: the download begins anew.
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            }
            #expect(stage.server.ranges.last == .some(nil))
            #expect(try folder.contents("file") == entity.contents)
            // What is not ours is left alone.
            let names = try folder.names().filter { damage != "link" && damage != "folder" || !$0.hasPrefix(".") }
            #expect(names == ["file"])
        }
    }

    @Test(.rows("SM-68"), arguments: ["damaged", "of an earlier version"], [true, false])
    func `a download with an unusable record begins anew, or fails if told to`(record: String, startsOver: Bool)
        async throws
    {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            let file = URL(filePath: "\(folder.path)/.file.dunlin-record")
            var bytes = try Data(contentsOf: file)
            if record == "damaged" {
                for index in bytes.indices { bytes[index] ^= 0x55 }
            } else {
                bytes.replaceSubrange(0..<8, with: "dunlinR1".utf8)
            }
            try bytes.write(to: file)
            var options = Options(resuming: .ifValidatorMatches)
            options.startsOverIfDamaged = startsOver
            if !startsOver {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
                }
                #expect(error.code == .invalidResumeData)
                options.startsOverIfDamaged = true
            }
            _ = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
            #expect(stage.server.ranges.last == .some(nil), "nothing is taken from what cannot be told to be right")
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test func `a resumed download is checked against its digest as a whole`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            entity.change { $0.faults = [.short(after: 300_000)] }
            let hex = "ff2838be1b1a30c5e9fae5ec5f7e0b0c7c8a85d2ee6a5d0e9ba8c11c9d80b2f5"
            let wrong = try ContentDigest(.sha256, hex: hex)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    "file", to: .folder(folder.path), transfer: Options(resuming: .ifValidatorMatches, digest: wrong))
            }
            #expect(error.code == .digestMismatch)
            #expect(try folder.names().isEmpty, "what is wrong is nothing to go on with")
            let whole = try await stage.session.download("file", to: .folder(folder.path))
            #expect(whole.value.byteCount == 1 << 20)
            let other = try await Child.sha256(of: Data(entity.contents))
            #expect(error.reason.contains(other))
        }
    }

    @Test(arguments: [true, false])
    func `a resumed download is checked as a whole against a digest that comes with the rest`(isRight: Bool)
        async throws
    {
        let folder = try Folder()
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            let hex = try await Child.sha256(of: Data(entity.contents))
            let digest = try ContentDigest(.sha256, hex: isRight ? hex : String(hex.reversed()))
            let value = Data(digest.bytes).base64EncodedString()
            entity.change { $0.entity.fields = ["Repr-Digest": "sha-256=:\(value):"] }
            let options = Options(resuming: .ifValidatorMatches)
            if isRight {
                let file = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
                #expect(file.value.digest == digest && file.value.resumedAt > 0)
                #expect(try folder.names() == ["file"])
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download("file", to: .folder(folder.path), transfer: options)
                }
                #expect(error.code == .digestMismatch)
                #expect(try folder.names().isEmpty, "what is wrong is nothing to go on with")
            }
        }
    }

    @Test func `a download does not take the digest of a refusal for its own`() async throws {
        let folder = try Folder()
        let clock = ManualClock()
        let entity = ServedFile(1 << 20, cuts: [300_000])
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let zeros = "sha-256=:" + String(repeating: "A", count: 43) + "=:"
            entity.change { $0.instead = { _ in .response(503, fields: ["Repr-Digest": zeros], body: "busy") } }
            entity.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path))
            try await Self.end(of: task, clock)
            #expect(try await task.response.value.byteCount == 1 << 20)
            #expect(try folder.contents("file") == entity.contents)
            #expect(stage.server.ranges.count == 3)
        }
    }

    @Test func `a download fails while another writes the same part`() async throws {
        let folder = try Folder()
        let entity = ServedFile(1 << 20, cuts: [])
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(
                .response(fields: ["Content-Length": "1048576", "ETag": #""one""#]).then(
                    .send(LoopbackServer.GeneratedBody.bytes(0..<1000)), .waitForSignal(gate),
                    .send(LoopbackServer.GeneratedBody.bytes(1000..<1 << 20))))
            entity.serve(on: stage)
            let first = try stage.session.downloadTask(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            first.resume()
            try await stage.eventually("it has begun") { try folder.names().contains(".file.dunlin-part") }
            try await stage.eventually("some has come") { first.downloaded.wireBytes == 1000 }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            }
            #expect(error.code == .fileNotCreated)
            #expect(error.fileFailure?.errno == EWOULDBLOCK)
            gate.open()
            _ = try await first.value
            #expect(try folder.contents("file") == entity.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: going on to another file system is not tested"))
    func `a download begun on one file system can end on another`() async throws {
        let folder = try Folder()
        let disk = try Mount(size: 8 << 20)
        let entity = ServedFile(1 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let data = try await Self.leave(entity, in: folder, stage)
            let file = try await stage.session.download(resumeData: data, to: .folder(disk.path)).value
            #expect(file.resumedAt == 100_000)
            #expect(Bytes(try Data(contentsOf: URL(filePath: file.path))) == entity.contents)
            #expect(try folder.names().isEmpty)
            #expect(try disk.names() == ["file"])
        }
    }

    @Test(.enabled(if: Mount.isPossible, "takes root: going on after a full disk is not tested"))
    func `a download that filled the disk goes on once there is room`() async throws {
        let disk = try Mount(size: 1 << 20)
        let entity = ServedFile(2 << 20)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            entity.serve(on: stage)
            var options = Options(resuming: .ifValidatorMatches)
            options.preallocates = false
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(disk.path), transfer: options)
            }
            #expect(error.code == .fileNotWritten)
            let data = try #require(error.resumeData)
            #expect(data.offset > 0)
            try disk.grow(to: 8 << 20)
            let file = try await stage.session.download("file", to: .folder(disk.path), transfer: options).value
            #expect(file.resumedAt == data.offset)
            #expect(Bytes(try Data(contentsOf: URL(filePath: file.path))) == entity.contents)
            #expect(try disk.names() == ["file"])
        }
    }
}
