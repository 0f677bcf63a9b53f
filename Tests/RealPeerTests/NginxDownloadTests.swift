import Dunlin
import DunlinTypes
import Folders
import Foundation
import LeakChecking
import Testing

/// Ranges and validators as others serve them.
@Suite(.needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Downloads from nginx` {
    private static let size = 8 << 20

    /// A place for the file, and beside it only what the download itself leaves there.
    private func with(
        _ pace: Nginx.Pace = .steady, _ play: (Nginx, HTTPSession, Folder) async throws -> Void
    ) async throws {
        try await Nginx.with(pace: pace) { nginx in
            let folder = try Folder(with: "into")
            var configuration = HTTPSession.Configuration(baseURL: nginx.baseURL)
            configuration.useLoopOfTest()
            let session = try HTTPSession(configuration)
            try await play(nginx, session, folder)
            await session.shutdown()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/into") == ["file"])
        }
    }

    @Test func `a download continues by itself when the server is restarted during it`() async throws {
        try await with(.braked) { nginx, session, folder in
            let file = Noise.bytes(Self.size)
            try nginx.publish(file, as: "file")
            let task = try session.downloadTask("paced/file", to: .file(folder.path + "/into/file"))
            async let result = task.response
            for await step in task.downloadProgress where step.wireBytes > 3 << 20 { break }
            nginx.stop()
            try nginx.keep(to: .steady)
            try nginx.start()
            let response = try await result
            #expect(response.value.byteCount == Self.size)
            #expect(Noise.isEqual(try folder.contents("into/file").array, file))
        }
    }

    private static func segments(_ count: Int) -> HTTPSession.DownloadOptions {
        var options = HTTPSession.DownloadOptions(resuming: .ifValidatorMatches)
        options.segments = .init(count, minimumLength: 512 << 10)
        return options
    }

    /// The server gives each connection 1 MiB a second, so that one takes four seconds. Where the machine has so much
    /// else to do that this says nothing, it gives less.
    @Test func `a download in four segments is much faster where each connection has its pace`() async throws {
        try await with(.asked) { nginx, session, folder in
            let file = Noise.bytes(Self.size / 2)
            try nginx.publish(file, as: "file")
            func time(segments count: Int, _ rate: String) async throws -> Duration {
                let start = ContinuousClock.now
                var options = Self.segments(count)
                options.overwrites = true
                let response = try await session.download(
                    "paced/file", query: ["rate": "\(rate)"], to: .file(folder.path + "/into/file"), transfer: options)
                let time = ContinuousClock.now - start
                #expect(response.value.byteCount == file.count)
                #expect(Noise.isEqual(try folder.contents("into/file").array, file))
                #expect((response.metrics.hops.count > 1) == (count > 1))
                return time
            }
            var times: [(one: Duration, four: Duration)] = []
            for rate in ["1m", "256k", "64k"] {
                try await times.append((time(segments: 1, rate), time(segments: 4, rate)))
                if times[times.count - 1].four * 2 < times[times.count - 1].one { return }
            }
            Issue.record("\(times)")
        }
    }

    @Test func `a download in segments continues after a restart, and later in another session`() async throws {
        try await with(.braked) { nginx, session, folder in
            let file = Noise.bytes(3 * Self.size)
            try nginx.publish(file, as: "file")
            let destination = HTTPSession.Destination.file(folder.path + "/into/file")
            let task = try session.downloadTask("paced/file", to: destination, transfer: Self.segments(4))
            task.resume()
            for await step in task.downloadProgress where step.wireBytes > 2 << 20 { break }
            nginx.stop()
            try nginx.start()
            for await step in task.downloadProgress where step.wireBytes > 4 << 20 { break }
            let data = try #require(await task.cancelProducingResumeData())
            nginx.stop()
            try nginx.keep(to: .steady)
            try nginx.start()
            #expect(data.byteCount >= 4 << 20 && data.offset < data.byteCount)
            var options = Self.segments(3)
            options.startsOverIfDamaged = false
            let response = try await session.download("paced/file", to: destination, transfer: options)
            #expect(response.value.resumedAt == data.byteCount)
            #expect(Noise.isEqual(try folder.contents("into/file").array, file))
        }
    }

    @Test(arguments: [false, true])
    func `a download continues later if the file is the same, and begins anew if it is not`(hasChanged: Bool)
        async throws
    {
        try await with(.braked) { nginx, session, folder in
            try nginx.publish(Noise.bytes(Self.size), as: "file")
            let task = try session.downloadTask("paced/file", to: .file(folder.path + "/into/file"))
            task.resume()
            for await step in task.downloadProgress where step.wireBytes > 3 << 20 { break }
            let data = try #require(await task.cancelProducingResumeData())
            nginx.stop()
            try nginx.keep(to: .steady)
            let file = hasChanged ? Noise.bytes(Self.size + 1) : try nginx.contents(of: "file")
            if hasChanged { try nginx.publish(file, as: "file") }
            try nginx.start()
            let response = try await session.download(resumeData: data, to: .file(folder.path + "/into/file"))
            #expect(response.value.byteCount == file.count)
            #expect((response.value.resumedAt > 0) == !hasChanged)
            #expect(Noise.isEqual(try folder.contents("into/file").array, file))
        }
    }
}
