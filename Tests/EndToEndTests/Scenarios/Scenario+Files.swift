import Dunlin
import DunlinInflate
import DunlinTesting
import Folders
import Synchronization

extension Scenario {
    /// Downloads that break, are stopped, are gone on with, or go elsewhere than planned.
    static let files: [Scenario] = [
        Scenario("download-broken", chancy: [.receive]) { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .short(after: 1000))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"), resuming: .never)
            }
            try scene.noteFiles()
        },
        Scenario("download-changed-meanwhile", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .short(after: 1000), .changed)
            await scene.note("download") {
                try await scene.movingOn {
                    try await scene.session.download(
                        "a", to: .file("\(scene.folder.path)/file"), resuming: .whileRunning)
                }
            }
            try scene.noteFiles()
        },
        Scenario("download-stopped-and-gone-on-with", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .stall(after: 1000))
            let task = try scene.session.downloadTask("a", to: .file("\(scene.folder.path)/file"))
            task.resume()
            try await scene.stage.eventually("some has come") { task.downloaded.wireBytes == 1000 }
            guard let data = await task.cancelProducingResumeData() else { return }
            scene.transcript.note("kept: \(data.offset) of \(data.completeLength ?? 0), \(data.validator ?? "")")
            await scene.note("stopped") { try await task.response }
            try scene.noteFiles()
            await scene.note("gone on with") {
                try await scene.session.download(resumeData: data, to: .file("\(scene.folder.path)/file"))
            }
            try scene.noteFiles()
        },
        Scenario("download-found-again", chancy: Set(HTTP.Phase.allCases)) { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .stall(after: 1000))
            let destination = HTTPSession.Destination.file("\(scene.folder.path)/file")
            let task = try scene.session.downloadTask("a", to: destination, resuming: .ifValidatorMatches)
            task.resume()
            try await scene.stage.eventually("some has come") { task.downloaded.wireBytes == 1000 }
            task.cancel()
            await scene.note("stopped") { try await task.response }
            try scene.noteFiles()
            await scene.note("again") {
                try await scene.session.download("a", to: destination, resuming: .ifValidatorMatches)
            }
            try scene.noteFiles()
        },
        Scenario("download-over-a-file") { scene in
            try scene.folder.write("old", as: "file")
            scene.server.respond { _ in .response(body: "new") }
            let destination = HTTPSession.Destination.file("\(scene.folder.path)/file")
            await scene.note("kept") { try await scene.session.download("a", to: destination) }
            await scene.note("replaced") {
                try await scene.session.download("b", to: destination, transfer: .init(overwrites: true))
            }
            try scene.noteFiles()
        },
        Scenario("download-too-long") { scene in
            scene.server.enqueue(.response(body: "0123456789"))
            await scene.note("download") {
                try await scene.session.download(
                    "a", to: .file("\(scene.folder.path)/file"), transfer: .init(bodyLimit: 5))
            }
            try scene.noteFiles()
        },
        Scenario("download-digest-wrong") { scene in
            scene.server.enqueue(.response(body: "hello"))
            let options = HTTPSession.DownloadOptions(
                digest: try ContentDigest(.sha256, hex: String(repeating: "00", count: 32)))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"), transfer: options)
            }
            try scene.noteFiles()
        },
        Scenario("download-gzip") { scene in
            let coded = try `Content codings`.coded(Bytes(Array(repeating: 65, count: 5000)), [.gzip])
            scene.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: coded))
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
        },
        Scenario("download-where-a-hook-says") { scene in
            scene.server.enqueue(.response(body: "hello"))
            var options = HTTPSession.Options()
            options.hooks = RecordingHooks.hooks(of: "own ")
            options.hooks.destination = { _, _ in .file("\(scene.folder.path)/hooked") }
            await scene.note("download") { [options] in
                try await scene.session.download("a", options: options, to: .file("\(scene.folder.path)/file"))
            }
            try scene.noteFiles()
        },
        Scenario("download-by-a-hook") { scene in
            scene.server.enqueue(.response(body: "hello"))
            var options = HTTPSession.Options()
            options.hooks = RecordingHooks.hooks(of: "own ")
            options.hooks.response = { _, _ in .download(to: .file("\(scene.folder.path)/file")) }
            await scene.note("get") { [options] in
                let response = try await scene.session.get("a", options: options, as: .bytes)
                return "\(response.value.count) bytes, file \(response.file.map { "\($0.byteCount)" } ?? "none")"
                    + scene.transcript.text(response.metrics)
            }
            try scene.noteFiles()
        },
        Scenario("download-tells-progress") { scene in
            scene.server.enqueue(.generated(length: 200_000))
            let last = Last()
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file")) { last.step = $0 }
            }
            scene.transcript.note("last: \(last.step?.wireBytes ?? 0), final \(last.step?.isFinal ?? false)")
        },
        Scenario("download-cancelled-before-it-begins") { scene in
            let task = try scene.session.downloadTask("a", to: .file("\(scene.folder.path)/file"))
            scene.transcript.note("kept: \(await task.cancelProducingResumeData() == nil ? "nothing" : "something")")
            await scene.note("download") { try await task.response }
        },
    ]
}

extension Scene {
    /// Notes what lies in the folder; the names of part files are made up.
    func noteFiles() throws {
        let names = try folder.names().map {
            $0.hasPrefix(".") ? $0.split(separator: ".").last.map(String.init) ?? "" : $0
        }
        transcript.note("files: \(names.joined(separator: " "))")
    }
}

/// What a hook was told last, and the sum of what it was shown.
final class Last: Sendable {
    private let told = Mutex<HTTPSession.TransferProgress?>(nil)
    private let shown = Mutex(0)

    var step: HTTPSession.TransferProgress? {
        get { told.withLock { $0 } }
        set { told.withLock { $0 = newValue } }
    }
    var sum: Int { shown.withLock { $0 } }

    func add(_ count: Int) { shown.withLock { $0 += count } }
}
