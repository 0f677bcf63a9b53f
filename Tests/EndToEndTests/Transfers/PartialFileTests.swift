import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Testing

/// Files that another program has begun to fetch.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A partial file from elsewhere` {
    private static let length = 1 << 20
    private static let modified = "Wed, 01 Jan 2020 00:00:00 GMT"
    private static let later = "Wed, 01 Jan 2020 00:01:00 GMT"

    private static func write(_ count: Int, _ folder: Folder, as name: String = "begun") throws -> String {
        let path = try folder.write(LoopbackServer.GeneratedBody.bytes(0..<count), as: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        return path
    }

    @Test(
        .rows("SM-67"),
        arguments: [
            GivenValidator.entityTag(#""one""#), .lastModified(modified, date: later),
        ])
    func `a partial file from elsewhere is continued and becomes the file`(validator: GivenValidator)
        async throws
    {
        let folder = try Folder()
        let path = try Self.write(300_000, folder)
        let file = ServedFile(Self.length)
        if case .lastModified = validator {
            file.change { ($0.entity.tag, $0.entity.lastModified) = (nil, Self.modified) }
        }
        try await Stage.with { (stage: Stage) async throws in
            file.serve(on: stage)
            let data = try await validator.data(path, of: "\(stage.server.baseURL)/file")
            #expect(data.offset == 300_000 && data.partPath == path && data.completeLength == nil)
            let kept = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data))
            #expect(kept == data)
            let response = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            #expect(response.value.resumedAt == 300_000 && response.value.byteCount == Self.length)
            #expect(stage.server.ranges == ["bytes=300000-"])
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test func `a total counts while a partial file is read again, which stays as it is`() async throws {
        let folder = try Folder()
        let path = try Self.write(0, folder)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 256 << 20)
        try file.close()
        try await Stage.with { (stage: Stage) async throws in
            let begun = ContinuousClock.now
            let data = try await ResumeData(
                partialFile: path, of: "\(stage.server.baseURL)/file", entityTag: #""one""#)
            let read = ContinuousClock.now
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(
                    resumeData: data, options: .init(timeouts: .init(total: .milliseconds(5))),
                    to: .file("\(folder.path)/file"))
            }
            #expect(read.duration(to: .now) < begun.duration(to: read))
            #expect(error.code == .timedOut && error.exceeded == .total && error.isSafeToRetry, "\(error)")
            #expect("\(error)".contains("reading the part file again") && stage.server.requests.isEmpty, "\(error)")
            #expect(try folder.names() == ["begun"])
        }
    }

    @Test(arguments: [0o600, 0o640])
    func `a file that replaces one that is closed to others is closed to them`(permissions: Int) async throws {
        let folder = try Folder()
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "secret") }
            let path = try folder.write("old", as: "file")
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
            _ = try await stage.session.download("file", to: .file(path), transfer: .init(overwrites: true))
            let mode = try #require(
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
            #expect(mode & ~permissions == 0, "\(String(mode, radix: 8))")
            #expect(folder.text(of: "file") == "secret")
        }
    }

    @Test(arguments: [0o600, 0o640])
    func `a partial file that is closed to readers becomes a file that is`(permissions: Int) async throws {
        let folder = try Folder()
        let path = try Self.write(300_000, folder)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
        let file = ServedFile(Self.length)
        try await Stage.with { (stage: Stage) async throws in
            file.serve(on: stage)
            let data = try await ResumeData(
                partialFile: path, of: "\(stage.server.baseURL)/file", entityTag: #""one""#)
            _ = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            let facts = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/file")
            let mode = try #require(facts[.posixPermissions] as? Int)
            #expect(mode & ~permissions == 0, "\(String(mode, radix: 8))")
        }
    }

    @Test func `a partial file is continued in place if that is where the file goes`() async throws {
        let folder = try Folder()
        let path = try Self.write(300_000, folder, as: "file")
        let file = ServedFile(Self.length)
        try await Stage.with { (stage: Stage) async throws in
            file.serve(on: stage)
            let data = try await ResumeData(
                partialFile: path, of: "\(stage.server.baseURL)/file", entityTag: #""one""#,
                completeLength: Self.length)
            let response = try await stage.session.download(
                resumeData: data, to: .file(path), transfer: .init(overwrites: true))
            #expect(response.value.resumedAt == 300_000)
            #expect(try folder.contents("file") == file.contents)
            #expect(try folder.names() == ["file"])
        }
    }

    @Test(arguments: ["tag", "length"]) func `a partial file is not combined with another state of the file`(
        what: String
    ) async throws {
        let folder = try Folder()
        let path = try Self.write(300_000, folder)
        let file = ServedFile(Self.length)
        file.change { if what == "tag" { $0.entity = $0.entity.changed } }
        try await Stage.with { (stage: Stage) async throws in
            file.serve(on: stage)
            let data = try await ResumeData(
                partialFile: path, of: "\(stage.server.baseURL)/file", entityTag: #""one""#,
                completeLength: what == "length" ? 2 * Self.length : nil)
            let response = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            #expect(response.value.resumedAt == 0)
            #expect(try folder.contents("file") == file.contents, "all of it is of the new state")
        }
    }

    @Test func `a partial file that has changed since it was read is refused`() async throws {
        let folder = try Folder()
        let path = try Self.write(300_000, folder)
        try await Stage.with { (stage: Stage) async throws in
            let data = try await ResumeData(
                partialFile: path, of: "\(stage.server.baseURL)/file", entityTag: #""one""#)
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try handle.write(contentsOf: Data([255]))
            try handle.close()
            let error = try await NetworkError.thrown {
                _ = try await stage.session.download(resumeData: data, to: .file("\(folder.path)/file"))
            }
            #expect(error.code == .invalidResumeData)
            #expect(stage.server.requests.isEmpty)
        }
    }

    static let weak: [GivenValidator] = [
        .entityTag(#"W/"one""#), .entityTag("one"), .entityTag(""), .lastModified(modified, date: modified),
        .lastModified(modified, date: "Wed, 01 Jan 2020 00:00:59 GMT"), .lastModified("yesterday", date: later),
        .lastModified(modified, date: ""),
    ]

    @Test(.rules("9110-13.1.5-2"), arguments: weak) func `a partial file without a strong validator is refused`(
        validator: GivenValidator
    ) async throws {
        let folder = try Folder()
        let path = try Self.write(10, folder)
        let error = try await NetworkError.thrown {
            _ = try await validator.data(path, of: "https://a.test/x")
        }
        #expect(error.code == .invalidResumeData)
    }

    @Test func `a partial file that cannot be continued is refused with the reason`() async throws {
        let folder = try Folder()
        let (empty, path) = (try Self.write(0, folder, as: "empty"), try Self.write(10, folder))
        let none = "\(folder.path)/none"
        for (path, url, length, reason) in [
            (empty, "https://a.test/x", nil, "the part file \(empty) is missing or empty"),
            (none, "https://a.test/x", nil, "the part file \(none) is missing or empty"),
            (path, "/x", nil, "its URL, /x, is not absolute"),
            (path, "https://a.test/x", 9, "it has 10 bytes, and its complete length is 9"),
            (path, "https://a.test/x", -1, "its complete length is -1"),
        ] as [(String, String, Int?, String)] {
            let error = try await NetworkError.thrown {
                _ = try await ResumeData(
                    partialFile: path, of: url, entityTag: #""one""#, completeLength: length)
            }
            #expect(error.code == .invalidResumeData && error.reason.contains(reason), "\(error.reason)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: path)
        let failures: [(String, Int32, HTTPSession.FileFailure.Distrust?)] = [
            (path, EPERM, .isWritableByGroup), (folder.path, EISDIR, nil),
            ("a\0b", EINVAL, nil),
        ]
        for (path, errno, distrust) in failures {
            do {
                _ = try await ResumeData(partialFile: path, of: "https://a.test/x", entityTag: #""one""#)
                Issue.record("it was taken")
            } catch let failure as HTTPSession.FileFailure {
                #expect(failure.errno == errno && failure.distrust == distrust && failure.path == path)
            }
        }
    }
}

/// What a server said of a file when it sent the beginning of it.
enum GivenValidator: Sendable {
    case entityTag(String)
    case lastModified(String, date: String)

    func data(_ path: String, of url: String) async throws -> ResumeData {
        switch self {
        case .entityTag(let tag): try await ResumeData(partialFile: path, of: url, entityTag: tag)
        case .lastModified(let modified, let date):
            try await ResumeData(partialFile: path, of: url, lastModified: modified, date: date)
        }
    }
}
