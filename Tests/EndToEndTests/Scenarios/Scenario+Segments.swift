import Dunlin
import DunlinTesting
import Folders
import Synchronization

extension Scenario {
    /// Files that two exchanges bring side by side. The first one brings nothing until the other has brought its half.
    static let segments: [Scenario] = [
        Scenario("segments") { scene in
            let file = scene.serveHalves()
            let task = try await scene.beginHalves()
            file.gate.open()
            await scene.note("download") { try await task.response }
            try scene.noteFiles()
        },
        Scenario("segments-broken", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            let file = scene.serveHalves(.short(after: 40_000), .status(503))
            let task = try await scene.movingOn { try await scene.beginHalves() }
            file.gate.open()
            await scene.note("download") { try await task.response }
            try scene.noteFiles()
        },
        Scenario("segments-of-a-changed-file", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) { scene in
            _ = scene.serveHalves(.changed)
            await scene.note("download") {
                try await scene.movingOn { try await scene.beginHalves { _ in true }.response }
            }
            try scene.noteFiles()
        },
        Scenario("segments-impossible") { scene in
            scene.server.serve(.init(length: 200_000, tag: "\"v1\"", hasRanges: false), at: "/a")
            await scene.note("download") { try await scene.beginHalves { _ in true }.response }
            try scene.noteFiles()
        },
        Scenario("segments-redirected") { scene in
            let file = scene.serveHalves()
            scene.server.route("/a") { number, _ in .response(307, fields: ["Location": "/file?\(number)"]) }
            let task = try await scene.beginHalves()
            file.gate.open()
            await scene.note("download") { try await task.response }
            try scene.noteFiles()
        },
        Scenario("segments-and-a-login", configure: withPassword) { scene in
            let file = HalvedFile()
            scene.server.respond { request in
                request.fields["authorization"] == nil ? .asking("Basic realm=\"r\"") : file.reply(to: request)
            }
            let task = try await scene.beginHalves()
            file.gate.open()
            await scene.note("download") { try await task.response }
            try scene.noteFiles()
        },
        Scenario("segments-digest-wrong") { scene in
            let file = scene.serveHalves()
            var options = HTTPSession.DownloadOptions.inHalves
            options.digest = try ContentDigest(.sha256, hex: String(repeating: "00", count: 32))
            let task = try await scene.beginHalves(options)
            file.gate.open()
            await scene.note("download") { try await task.response }
            try scene.noteFiles()
        },
    ]
}

/// A file of two halves. Whoever asks for all of it gets the first half, when the gate opens: until then the other half
/// is the one that can be divided, and the first one is too short for that afterwards.
private final class HalvedFile: Sendable {
    private struct State {
        var entity = LoopbackServer.Entity(length: 2 * half, tag: "\"v1\"")
        var hasChanged = false
        var faults: [LoopbackServer.EntityFault]
    }

    static let half = 100_000
    let gate = LoopbackServer.Gate()
    private let state: Mutex<State>

    /// What goes wrong with those who ask for the second half, each once.
    init(_ faults: [LoopbackServer.EntityFault] = []) { state = Mutex(State(faults: faults)) }

    func reply(to request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let isPart = request.fields["range"] != nil
        return state.withLock { state in
            let fault = isPart && !state.faults.isEmpty ? state.faults.removeFirst() : .none
            if fault == .changed { (state.entity, state.hasChanged) = (state.entity.changed, true) }
            if isPart || state.hasChanged { return state.entity.reply(to: request, fault) }
            guard case .message(let head)? = state.entity.whole.steps.first else { return state.entity.whole }
            return [
                .message(head), .waitForSignal(gate), .generated(0..<Self.half), .stall,
            ]
        }
    }
}

extension HTTPSession.DownloadOptions {
    fileprivate static var inHalves: Self {
        var options = Self()
        options.segments = HTTPSession.Segments(2, minimumLength: HalvedFile.half * 3 / 5)
        return options
    }
}

extension Scene {
    fileprivate typealias Handle = HTTPSession.RequestTask<HTTPSession.DownloadedFile>

    fileprivate func serveHalves(_ faults: LoopbackServer.EntityFault...) -> HalvedFile {
        let file = HalvedFile(faults)
        server.respond { file.reply(to: $0) }
        return file
    }

    /// Begins a download, and waits until the second half is there, or something else is so.
    fileprivate func beginHalves(
        _ options: HTTPSession.DownloadOptions = .inHalves, until isSo: @Sendable (Handle) -> Bool = isSecondThere
    ) async throws -> Handle {
        let task = try session.downloadTask("a", to: .file("\(folder.path)/file"), transfer: options)
        task.resume()
        try await stage.eventually("the first half may come") { isSo(task) }
        return task
    }

    fileprivate static let isSecondThere: @Sendable (Handle) -> Bool = {
        $0.downloaded.wireBytes == HalvedFile.half
    }
}
