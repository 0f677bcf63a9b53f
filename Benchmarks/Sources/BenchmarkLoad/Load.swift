/// What a client is told to do, and how it does it: `concurrency` child tasks, each sending its share of the requests
/// one after the other.
///
/// A load runs twice: `warmup` requests that open the connections and fill every cache, then `requests` that count.
public struct Load: Sendable {
    public var host = "127.0.0.1"
    public var port = 80
    public var path = "/1k"
    public var concurrency = 1
    public var requests = 1000
    public var warmup = 100

    public init(_ arguments: [String] = CommandLine.arguments) throws {
        for at in stride(from: 1, to: arguments.count - 1, by: 2) {
            let value = arguments[at + 1]
            switch arguments[at] {
            case "--host": host = value
            case "--port": port = try Self.number(value)
            case "--path": path = value
            case "--concurrency": concurrency = try Self.number(value)
            case "--requests": requests = try Self.number(value)
            case "--warmup": warmup = try Self.number(value)
            default: throw LoadError.argument(arguments[at])
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw LoadError.argument(text) }
        return number
    }

    /// Runs the load where it is called: child tasks inherit the caller's executor preference.
    public func measure(_ send: @escaping @Sendable () async throws -> Reply) async throws {
        _ = try await run(warmup, send)
        let start = Usage.now
        let nanoseconds = try await run(requests, send)
        print(Usage.now.report(since: start, nanoseconds: nanoseconds))
    }

    /// How long each request took.
    private func run(_ requests: Int, _ send: @escaping @Sendable () async throws -> Reply) async throws -> [UInt32] {
        try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for caller in 0..<concurrency {
                let share = requests * (caller + 1) / concurrency - requests * caller / concurrency
                group.addTask { try await repeatedly(share, send) }
            }
            var all: [UInt32] = []
            all.reserveCapacity(requests)
            for try await times in group { all += times }
            return all
        }
    }

    private func repeatedly(_ count: Int, _ send: @Sendable () async throws -> Reply) async throws -> [UInt32] {
        var times: [UInt32] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
            let begun = Usage.nanoseconds
            let reply = try await send()
            guard reply == Reply.expected else { throw LoadError.reply(reply) }
            times.append(UInt32(clamping: Usage.nanoseconds - begun))
        }
        return times
    }
}

/// What every response is checked for.
public struct Reply: Sendable, Equatable {
    public var status: Int
    public var length: Int

    static let expected = Reply(status: 200, length: 1024)

    public init(status: Int, length: Int) {
        self.status = status
        self.length = length
    }
}

enum LoadError: Error {
    case argument(String)
    case reply(Reply)
}
