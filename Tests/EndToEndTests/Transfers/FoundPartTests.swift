import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Testing

/// What lies where a download would find what an earlier one left, and was not left by it.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A part that is found` {
    private static let length = 1 << 20
    private static let part = ".file.dunlin-part"
    private static let record = ".file.dunlin-record"

    /// Leaves 100,000 bytes of a file, and the record of them.
    private static func leave(_ file: ServedFile, in folder: Folder, _ stage: Stage) async throws -> ResumeData {
        file.change { $0.faults = [.stall(after: 100_000)] }
        file.serve(on: stage)
        let task = try stage.session.downloadTask("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
        task.resume()
        try await stage.eventually("much has come") { task.downloaded.wireBytes == 100_000 }
        let data = try #require(await task.cancelProducingResumeData())
        #expect(try folder.names() == [part, record])
        file.change { $0.faults = [] }
        return data
    }

    /// The length was the server's word: a few bytes and a large number would fill the disk.
    @Test func `a part that is left takes no more of the disk than its bytes`() async throws {
        let folder = try Folder()
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(ServedFile(Self.length), in: folder, stage)
            var status = stat()
            #expect(stat("\(folder.path)/\(Self.part)", &status) == 0)
            #expect(status.st_size == 100_000)
            #expect(status.st_blocks * 512 < 300_000)
        }
    }

    @Test func `a download that another is writing is refused by its name and the way out`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.change { $0.faults = [.stall(after: 100_000)] }
            file.serve(on: stage)
            let first = try stage.session.downloadTask("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            first.resume()
            try await stage.eventually("much has come") { first.downloaded.wireBytes == 100_000 }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            }
            #expect(error.code == .fileNotCreated && error.phase == nil)
            #expect(error.fileFailure?.path == "\(folder.path)/\(Self.part)")
            #expect(
                "\(error)".hasSuffix(
                    """
                    /\(Self.part): another download is writing it, perhaps in another process; wait for that, or \
                    choose another destination
                    """), "\(error)")
            #expect(try folder.names() == [Self.part, Self.record])
            first.cancel()
            _ = try? await first.value
        }
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What is in the way, and stays.
        var names: [String]
        var isPart = true
        var make: @Sendable (_ folder: String) throws -> Void
    }

    /// It has the whole URL, and no download would find it.
    @Test func `a part with a random name has no record, and is swept`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.change { $0.faults = [.stall(after: 300_000), .stall(after: 300_000)] }
            file.serve(on: stage)
            let destination = HTTPSession.Destination.file("\(folder.path)/file")
            let task = try stage.session.downloadTask("file", to: destination)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == 300_000 }
            let data = try #require(await task.cancelProducingResumeData())
            #expect(try folder.names().map { $0.suffix(12) } == [".dunlin-part"])
            let next = try stage.session.downloadTask(resumeData: data, to: destination)
            next.resume()
            try await stage.eventually("more has come") { next.downloaded.wireBytes > 0 }
            let rest = try #require(await next.cancelProducingResumeData())
            #expect(rest.byteCount >= 300_000)
            #expect(try folder.names().map { $0.suffix(12) } == [".dunlin-part"])
            let whole = try await stage.session.download(resumeData: rest, to: destination).value
            #expect(whole.resumedAt == rest.byteCount)
            #expect(try folder.names() == ["file"])
        }
    }

    private static func permit(_ permissions: Int, _ name: String) -> @Sendable (String) throws -> Void {
        { folder in
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: "\(folder)/\(name)")
        }
    }

    private static func moved(_ name: String) -> @Sendable (String) throws -> Void {
        { folder in
            try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: "\(folder)/other")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)", withDestinationPath: "\(folder)/other")
        }
    }

    private static func linked(_ name: String) -> @Sendable (String) throws -> Void {
        { try FileManager.default.linkItem(atPath: "\($0)/\(name)", toPath: "\($0)/other") }
    }

    private static func given(_ name: String) -> @Sendable (String) throws -> Void {
        { folder in
            try FileManager.default.setAttributes(
                [.ownerAccountID: 12345, .posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(name)")
        }
    }

    static let changes: [Change] = [
        Change(testDescription: "a part its group may write to", names: [part, record], make: permit(0o620, part)),
        Change(testDescription: "a part others may write to", names: [part, record], make: permit(0o666, part)),
        Change(testDescription: "a part with two names", names: [part, record, "other"], make: linked(part)),
        Change(testDescription: "a link to a part", names: [part, record, "other"], make: moved(part)),
        Change(
            testDescription: "a record others may write to", names: [], isPart: false, make: permit(0o666, record)),
        Change(
            testDescription: "a record with two names", names: ["other"], isPart: false, make: linked(record)),
        Change(
            testDescription: "a link to a record", names: [part, record, "other"], isPart: false, make: moved(record)),
    ]

    @Test(arguments: changes) func `a found part that others may have written is not taken over`(change: Change)
        async throws
    {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(file, in: folder, stage)
            try change.make(folder.path)
            let before = try folder.contents(Self.part)
            let response = try await stage.session.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            #expect(response.value.resumedAt == 0)
            #expect(stage.server.ranges.last == .some(nil), "all of it was asked for")
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == (change.names + ["file"]).sorted())
            if change.names.contains(Self.part) { #expect(try folder.contents(Self.part) == before) }
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "takes root: a part of another user's is not tested"), arguments: [part, record])
    func `a found part of another user is not taken over`(name: String) async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(file, in: folder, stage)
            try Self.given(name)(folder.path)
            let response = try await stage.session.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            #expect(response.value.resumedAt == 0)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == [Self.part, Self.record, "file"])
            #expect(try folder.contents(Self.part).count == 100_000)
        }
    }

    @Test(arguments: changes.filter(\.isPart))
    func `resume data of a part that others may have written is refused by the part's name`(change: Change) async throws
    {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let data = try await Self.leave(file, in: folder, stage)
            try change.make(folder.path)
            let before = try folder.contents(Self.part)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(resumeData: data, to: .folder(folder.path))
            }
            #expect(error.code == .invalidResumeData)
            #expect("\(error)".contains(Self.part))
            #expect(try folder.contents(Self.part) == before)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test(.rows("SM-67"))
    func `bytes behind those that count never become a part of the file`() async throws {
        let folder = try Folder()
        let entity = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(entity, in: folder, stage)
            entity.change { state in
                state.instead = { _ in
                    LoopbackServer.Reply.response(
                        .partialContent,
                        fields: [
                            "ETag": #""one""#, "Content-Range": "bytes 100000-100009/*",
                            "Transfer-Encoding": "chunked",
                        ]
                    ).then(.send("a\r\n0123456789\r\n"), .send("1\r\nx\r\n"), .close)
                }
            }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            }
            #expect(error.code == .invalidResponse && error.resumeData?.offset == 100_000)
            let part = "\(folder.path)/\(Self.part)"
            #expect(try folder.contents(Self.part).count == 100_000)
            // Somebody else may write to it, too.
            let handle = try #require(FileHandle(forWritingAtPath: part))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(count: 2 << 20))
            try handle.close()
            let file = try await stage.session.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches
            ).value
            #expect(file.resumedAt == 100_000 && file.byteCount == Self.length)
            #expect(try folder.contents("file") == entity.contents)
        }
    }

    @Test func `a part can be found again, and its record can be read by its user alone`() async throws {
        let folder = try Folder()
        let file = ServedFile(Self.length)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            _ = try await Self.leave(file, in: folder, stage)
            let permissions = try [Self.part, Self.record].map { name in
                try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")[.posixPermissions] as? Int
            }
            #expect((permissions[0] ?? 0o777) & 0o022 == 0)
            #expect(permissions[1] == 0o600, "it holds the URL")
            let response = try await stage.session.download(
                "file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            #expect(response.value.resumedAt == 100_000)
            try folder.write("x", as: "new")
            let names = ["file", "new"]
            let modes = try names.map { name in
                try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")[.posixPermissions] as? Int
            }
            #expect(modes[0] == modes[1] || modes[1] == 0o600, "the file is as any that is made there")
        }
    }

    @Test func `a cancelled download leaves no part where the part's name was taken`() async throws {
        let folder = try Folder()
        try folder.write("another's", as: Self.part)
        try Self.permit(0o666, Self.part)(folder.path)
        let file = ServedFile(Self.length)
        file.change { $0.faults = [.stall(after: 100_000)] }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            file.serve(on: stage)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), resuming: .ifValidatorMatches)
            task.resume()
            try await stage.eventually("much has come") { task.downloaded.wireBytes == 100_000 }
            #expect(try folder.names().count == 2)
            task.cancel()
            _ = await task.result
            #expect(try folder.names() == [Self.part])
            #expect(try folder.contents(Self.part) == "another's")
        }
    }
}
