import Dunlin
import DunlinDisplay
import DunlinTesting
import FoundationEssentials

/// A download whose connection is reset halfway.
struct DownloadDemo: DemoPart {
    let title = "A download, cut off"
    let code = #"client.downloadTask("disk.img", to: .file(path))"#

    /// Where its folder is made, and removed at its end.
    var parent = FileManager.default.temporaryDirectory.path

    /// How long the server waits between two parts of the file.
    var pause = Duration.milliseconds(35)

    private static let length = 8 << 20

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let entity = LoopbackServer.Entity(length: Self.length, tag: "\"v1\"")
        server.route("/disk.img") { [pause] attempt, request in
            entity.reply(to: request, attempt == 0 ? .reset(after: Self.length / 2) : .none)
                .dripping(96 << 10, every: pause)
        }
        let folder = "\(parent)/dunlin-demo-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            try await download(to: "\(folder)/disk.img", from: server, page)
        } catch {
            try FileManager.default.removeItem(atPath: folder)
            throw error
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    private func download(to path: String, from server: LoopbackServer, _ page: DemoPage) async throws {
        try await withSession(.init(baseURL: server.baseURL)) { client in
            let task = try client.downloadTask("disk.img", to: .file(path))
            ProgressDisplay("   disk.img", on: page.display).follow(task)
            _ = try await page.finishingBars { try await task.value }
            let difference = try LoopbackServer.GeneratedBody.difference(ofFileAt: path, from: 0..<Self.length)
            let content = difference.map { "it differs from byte \($0) on" } ?? "the file is the server's"
            let range = server.requests.last?.fields["Range"] ?? "none"
            page.say("Reset, then resumed by Range: \(range); \(content)")
        }
    }
}
