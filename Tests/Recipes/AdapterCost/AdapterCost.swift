import Dunlin
import DunlinTesting
import Foundation

/// What a keep-alive GET of 1 KiB on loopback costs with each adapter on and off, in one run: the processor time of the
/// client, user and system. The server is a process of its own.
///
/// `AdapterCost` prints a table. `AdapterCost count NAME N` makes N requests with one of its rows and prints nothing,
/// for tools that count.
@main struct AdapterCost {
    static let rounds = 15
    static let requests = 2000

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        if words.first == "serve" { return try serve() }
        let server = try ServerProcess()
        defer { server.stop() }
        if words.first == "count", words.count == 3 {
            guard let variant = Variant(rawValue: words[2]), let count = Int(words[3]) else { return }
            let session = try variant.session(server.url)
            return try await get(session, times: count)
        }
        let sessions = try Variant.allCases.map { ($0, try $0.session(server.url)) }
        var microseconds = [Variant: [Double]]()
        for (_, session) in sessions { try await get(session, times: requests / 4) }
        for round in 0..<rounds {
            // Each round begins with another one, so that a noisy moment falls on everybody.
            for index in sessions.indices {
                let (variant, session) = sessions[(index + round) % sessions.count]
                let start = processorMicroseconds()
                try await get(session, times: requests)
                microseconds[variant, default: []].append((processorMicroseconds() - start) / Double(requests))
                Variant.forgetSpans()
            }
        }
        report(microseconds)
    }

    private static func get(_ session: HTTPSession, times: Int) async throws {
        for _ in 0..<times {
            let response = try await session.get("users/\(42, name: "id")")
            precondition(response.value.count == 1024)
        }
    }

    private static func report(_ microseconds: [Variant: [Double]]) {
        func median(_ variant: Variant) -> Double {
            let sorted = (microseconds[variant] ?? []).sorted()
            return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        }
        let least = median(.none)
        print("| adapters | CPU µs | more |")
        print("|---|--:|--:|")
        for variant in Variant.allCases {
            let cost = median(variant)
            let more = variant == .none ? "" : String(format: "%+.1f", cost - least)
            print("| \(variant.rawValue) | \(String(format: "%.1f", cost)) | \(more) |")
        }
    }

    private static func processorMicroseconds() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        return times.reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
    }

    /// Serves until its standard input ends, as it does when the parent has gone.
    private static func serve() throws {
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        let server = try LoopbackServer(configuration: configuration)
        let body = Bytes([UInt8](repeating: 7, count: 1024))
        server.respond { _ in .response(body: body) }
        FileHandle.standardOutput.write(Data("\(server.baseURL)\n".utf8))
        while readLine() != nil {}
        server.stop()
    }
}

/// The server, in another process of this program.
private struct ServerProcess {
    private let process = Process()
    private let input = Pipe()
    let url: String

    init() throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        url = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
