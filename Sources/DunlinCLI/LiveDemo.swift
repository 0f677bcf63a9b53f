import Dunlin
import DunlinCommandLine
import DunlinDisplay
import DunlinTesting
import FoundationEssentials

/// The part of the demo that is redrawn: downloads with bars, and below them the network's status and the registry's
/// view of each task.
struct LiveDemo {
    private let output: Output
    private let session: HTTPSession
    private let terminal: DescriptorOutput
    private let display: TerminalDisplay
    private let folder = FileManager.default.temporaryDirectory.appending(path: "dunlin-demo-\(UUID())").path

    private static let files = ["disk.img", "photos.zip", "unknown.bin"]

    init(_ output: Output, _ server: LoopbackServer, _ session: HTTPSession) {
        self.output = output
        self.session = session
        terminal = DescriptorOutput(output.results)
        display = TerminalDisplay(on: terminal)
        server.route(.get, "/disk.img", .generated(length: 6 << 20).dripping(128 << 10, every: .milliseconds(40)))
        server.route(.get, "/photos.zip", .generated(length: 3 << 20).dripping(96 << 10, every: .milliseconds(40)))
        // Its length is unknown before it ends.
        server.route(
            .get, "/unknown.bin",
            .untilClose(Bytes([UInt8](repeating: 0, count: 1 << 20)))
                .dripping(48 << 10, every: .milliseconds(40)))
    }

    func run() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { clear() }
        let tasks = try Self.files.map { name in
            try session.downloadTask(HTTP.Target(name), to: .file("\(folder)/\(name)"))
        }
        for (task, name) in zip(tasks, Self.files) { ProgressDisplay(name, on: display).follow(task) }
        if !isRedrawn { await sayNetwork() }
        for task in tasks { task.resume() }
        if !isRedrawn { for task in await session.tasks.all { display.print(text(of: task)) } }
        let showing = Task { await showEvents() }
        var results: [Result<HTTPSession.Response<HTTPSession.DownloadedFile>, any Error>] = []
        for task in tasks { results.append(await task.result) }
        showing.cancel()
        await showing.value
        await display.finish()
        for result in results { _ = try result.get() }
    }

    /// Shows the network above the tasks: the tasks become fewer, and nothing should be below a gap.
    private func showEvents() async {
        guard isRedrawn else { return }
        let network = display.addLine("   network: ")
        async let _: Void = showNetwork(network)
        await showTasks()
    }

    private func sayNetwork() async {
        for await status in Reachability.shared.statuses {
            display.print("   network: \(status)")
            return
        }
    }

    private func showNetwork(_ line: StatusLine) async {
        for await status in Reachability.shared.statuses { line.show("   network: \(status)") }
    }

    /// Shows the registry's state four times a second.
    private func showTasks() async {
        let lines = Self.files.map { _ in display.addLine() }
        while !Task.isCancelled {
            let tasks = await session.tasks.all
            for (index, line) in lines.enumerated() {
                line.show(index < tasks.count ? text(of: tasks[index]) : "")
            }
            do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
        }
    }

    private var isRedrawn: Bool { terminal.terminal != nil }

    private func text(of task: HTTPSession.TaskSnapshot) -> String {
        let phase = task.phase.map { ", \($0.rawValue)" } ?? ""
        let state =
            switch task.state {
            case .waiting: "waiting"
            case .running: "running"
            case .waitingToRetry: "waiting to retry"
            case .suspended: "suspended"
            case .over: "over"
            }
        return "   \(task.id) \(task.kind.rawValue) \(task.targetTemplate): \(state)\(phase), \(task.age.readable)"
    }

    private func clear() {
        do { try FileManager.default.removeItem(atPath: folder) } catch { output.complain("\(error)") }
    }
}
