import Dunlin
import DunlinCommandLine
import FoundationEssentials

/// `dunlin cache`: lists or removes what `dunlin get --cache` has stored.
struct StoreCommand {
    enum Operation: String {
        case list
        case clear
    }

    let operation: Operation
    let output: Output

    /// The folder of the command's cache.
    static var folder: String {
        let variables = ProcessInfo.processInfo.environment
        let home = variables["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (home ?? (variables["HOME"] ?? "/tmp") + "/.cache") + "/dunlin/responses"
    }

    static func cache(warning output: Output, in folder: String = folder) -> HTTPSession.Cache {
        HTTPSession.Cache(folder: folder) { output.warn("\($0)") }
    }

    func run(in folder: String = folder) async -> ExitCode {
        let cache = Self.cache(warning: output, in: folder)
        switch operation {
        case .clear: await cache.removeAll()
        case .list:
            for entry in await cache.entries().sorted(by: { $0.url < $1.url }) { output.print(Self.line(entry)) }
        }
        await cache.close()
        return .success
    }

    private static func line(_ entry: HTTPSession.Cache.Entry) -> String {
        let seconds = entry.freshness.components.seconds
        let state = seconds > 0 ? "fresh for \(seconds) s" : "stale"
        let part = entry.isWhole ? "" : ", partial"
        return "\(entry.status) \(entry.count.readableBytes)\(part), \(state)  \(entry.url)"
    }
}
