import Dunlin
import DunlinTesting
import Foundation

/// Downloads that are killed at any moment, over and over, and go on each time where they were.
///
/// After each kill the destination is as it was before: absent, or whole. What is fetched again is bounded. In the end
/// every file is what the server has, byte for byte, and nothing lies beside it. Every other file comes in segments, as
/// many as the dice say.
struct Kills {
    private static let length = 48 << 20
    private static let files = 5
    /// What may be fetched again after a kill: what came since the record was written (4 MiB), what waits for the disk
    /// (2 MiB and a piece of 1 MiB), and what the kernel holds.
    private static let lossLimit = 8 << 20

    let count: Int
    let tally: Tally
    private let folder: URL
    private let server: LoopbackServer
    private let counter: FetchCounter

    init(count: Int, _ tally: Tally) throws {
        self.count = count
        self.tally = tally
        let temporary = FileManager.default.temporaryDirectory
        folder = temporary.appendingPathComponent("dunlin-kills-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        // What the kernel holds when a process dies is lost to it, and was sent: over a Unix socket that is little.
        configuration.sendBuffer = 128 << 10
        server = try LoopbackServer(.unix(folder.path + ".socket"), configuration: configuration)
        counter = FetchCounter(server, length: Self.length, lossLimit: Self.lossLimit, tally)
    }

    func run() async throws {
        defer { end() }
        var dice = SeededGenerator(seed: tally.seed)
        for number in 0..<Self.files {
            let file = folder.appendingPathComponent("file \(number)")
            counter.begin(number, segments: number % 2 == 0 ? 1 : 2 + dice.next(below: 4))
            for _ in 0..<(count * (number + 1) / Self.files - count * number / Self.files) {
                // Now and then the server has something else; what there was of the old is worth nothing then.
                if dice.next(below: 40) == 0 { counter.change() }
                try await kill(file, &dice)
            }
            try await finish(file)
        }
        tally.note(counter.description)
    }

    private func end() {
        server.stop()
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            tally.violation("the folder could not be removed: \(error)")
        }
    }

    // MARK: - One process

    /// One that is killed, unless it is done before.
    private func kill(_ file: URL, _ dice: inout SeededGenerator) async throws {
        while true {
            let moment = Moment(&dice)
            let child = try Downloader(counter.request, file)
            if await child.kill(at: moment, counter) {
                counter.killed()
                tally.count("killed \(moment.name)")
                return try check(afterKill: file)
            }
            // Too late; the next one begins anew.
            await judge(child, file)
            try FileManager.default.removeItem(at: file)
        }
    }

    /// The name comes with the last step: if there is one, the file is whole.
    private func check(afterKill file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        check(file)
        counter.finished()
        try FileManager.default.removeItem(at: file)
    }

    private func finish(_ file: URL) async throws {
        let child = try Downloader(counter.request, file)
        await judge(child, file)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        if names.sorted() != [file.lastPathComponent] { tally.violation("beside the file: \(names)") }
        try FileManager.default.removeItem(at: file)
    }

    private func judge(_ child: Downloader, _ file: URL) async {
        if await !child.finish() { tally.violation("a download failed that nobody killed") }
        counter.finished()
        tally.count("finished")
        check(file)
    }

    private func check(_ file: URL) {
        do {
            let difference = try LoopbackServer.GeneratedBody.difference(ofFileAt: file.path, from: counter.content)
            if let difference { tally.violation("\(file.lastPathComponent) is wrong at \(difference)") }
        } catch {
            tally.violation("\(file.lastPathComponent) cannot be read: \(error)")
        }
    }
}

/// When a process is killed.
enum Moment {
    /// So much has been sent of what it asked for, in thousandths.
    case share(Int)
    /// So long after it began: while it starts, looks for what it left, opens files.
    case after(Duration)
    /// All that it asked for has been sent: while it writes the last of it, and gives the file its name.
    case end(Duration)

    init(_ dice: inout SeededGenerator) {
        switch dice.next(below: 10) {
        case 0..<6: self = .share(dice.next(below: 900))
        case 6..<8: self = .after(.microseconds(dice.next(below: 60_000)))
        default: self = .end(.microseconds(dice.next(below: 3000)))
        }
    }

    var name: String {
        switch self {
        case .share: "in the middle"
        case .after: "while it began"
        case .end: "at the end"
        }
    }
}
