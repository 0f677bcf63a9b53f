import Dunlin
import Foundation

/// Drives sessions through bad faulty, and looks afterwards whether anything was left lying about.
///
///     Storm requests [COUNT] [--seed SEED] [--tls]    one session, 100,000 requests by default
///     Storm sessions [COUNT] [--seed SEED] [--tls]    1,000 sessions by default, of ten requests each
///     Storm sockets [COUNT] [--seed SEED] [--tls]     5,000 by default: WebSockets and streams of events
///     Storm logins [COUNT] [--seed SEED]              10,000 by default, over a token that expires every 500
///     Storm proxies [COUNT] [--seed SEED]             10,000 by default, through a proxy that dies and comes back
///     Storm promises [COUNT] [--seed SEED]            200,000 by default: who may see what, by a model
///     Storm kept [COUNT] [--seed SEED]                20,000 by default: who is given what is kept or shared
///     Storm nested [COUNT] [--seed SEED]              10,000 by default: requests within requests
///     Storm kills [COUNT] [--seed SEED]               1,000 by default: downloads killed by SIGKILL, that go on
///     Storm bulk [MEGABYTES] [--tls]                  4,096 by default: long bodies in little memory
///
/// Over TLS there are faults in handshakes and records as well, and servers that must not be believed.
///
/// Ends with 0 if every request ended as it may and everything is back where it was, with 1 otherwise, with 2 for
/// arguments that it does not understand. The seed it prints makes the same requests meet the same faulty again;
/// which of two that race comes first is the machine's.
@main
struct Storm {
    static func main() async {
        if let fetch = Fetch(Array(CommandLine.arguments.dropFirst())) { await fetch.run() }
        if let carry = Carry(Array(CommandLine.arguments.dropFirst())) { await carry.run() }
        guard let arguments = Arguments(CommandLine.arguments.dropFirst()) else {
            print("usage: Storm \(Arguments.Kind.names) [COUNT] [--seed SEED] [--tls]")
            exit(2)
        }
        let tally = Tally(seed: arguments.seed)
        let watchdog = Watchdog(tally)
        do {
            let masks = arguments.isSecure ? try Masks() : nil
            switch arguments.kind {
            case .requests:
                try await measure(tally, warmUp: 500) {
                    try await RequestStorm(count: $0 ?? arguments.count, masks: masks, tally: tally, watchdog: watchdog)
                        .run()
                }
            case .sessions:
                try await measure(tally, warmUp: 20) {
                    try await SessionStorm(count: $0 ?? arguments.count, masks: masks, tally: tally, watchdog: watchdog)
                        .run()
                }
            case .sockets:
                try await measure(tally, warmUp: 800) {
                    try await SocketStorm(count: $0 ?? arguments.count, masks: masks, tally: tally, watchdog: watchdog)
                        .run()
                }
            case .logins:
                try await measure(tally, warmUp: 600) {
                    try await LoginStorm(count: $0 ?? arguments.count, tally: tally, watchdog: watchdog).run()
                }
            case .proxies:
                let masks = try masks ?? Masks()
                try await measure(tally, warmUp: 600) {
                    try await ProxyStorm(count: $0 ?? arguments.count, masks: masks, tally: tally, watchdog: watchdog)
                        .run()
                }
            case .promises:
                try await measure(tally, warmUp: 480) {
                    try await PromiseStorm(count: $0 ?? arguments.count, tally: tally, watchdog: watchdog).run()
                }
            case .kept:
                try await measure(tally, warmUp: 800) {
                    try await KeptStorm(count: $0 ?? arguments.count, tally: tally, watchdog: watchdog).run()
                }
            case .nested:
                try await measure(tally, warmUp: 500) {
                    try await NestedStorm(count: $0 ?? arguments.count, tally: tally, watchdog: watchdog).run()
                }
            case .kills:
                try await measure(tally, warmUp: 1) {
                    try await Kills(count: $0 ?? arguments.count, tally).run()
                }
            case .bulk:
                try await Bulk(megabytes: arguments.count, isSecure: arguments.isSecure, tally: tally).run()
            }
        } catch {
            tally.violation("the storm itself failed: \(error)")
        }
        print(tally)
        exit(tally.isClean ? 0 : 1)
    }

    /// A small storm first, so that what a process makes once and keeps is there when the baseline is taken.
    private static func measure(_ tally: Tally, warmUp: Int, _ storm: (Int?) async throws -> Void) async throws {
        try await storm(warmUp)
        let baseline = await Belongings.settled()
        let start = ContinuousClock.now
        try await storm(nil)
        tally.elapsed = ContinuousClock.now - start
        await Belongings.compare(with: baseline, tally)
    }
}

struct Arguments {
    enum Kind: String, CaseIterable {
        case requests
        case sessions
        case sockets
        case logins
        case proxies
        case promises
        case kept
        case nested
        case kills
        case bulk

        static var names: String { allCases.map(\.rawValue).joined(separator: "|") }
    }

    let kind: Kind
    var count: Int
    var seed = UInt64.random(in: 0..<1_000_000_000)
    var isSecure = false

    init?(_ words: some Collection<String>) {
        var words = Array(words)
        guard let kind = words.isEmpty ? nil : Kind(rawValue: words.removeFirst()) else { return nil }
        self.kind = kind
        count =
            switch kind {
            case .requests: 100_000
            case .sockets: 5000
            case .promises: 200_000
            case .kept: 20_000
            case .sessions, .kills: 1000
            case .logins, .proxies, .nested: 10_000
            case .bulk: 4096
            }
        if let option = words.firstIndex(of: "--seed") {
            guard option + 1 < words.count, let seed = UInt64(words[option + 1]) else { return nil }
            self.seed = seed
            words.removeSubrange(option...(option + 1))
        }
        if let option = words.firstIndex(of: "--tls") {
            isSecure = true
            words.remove(at: option)
        }
        guard words.count <= 1 else { return nil }
        if let word = words.first {
            guard let count = Int(word), count > 0 else { return nil }
            self.count = count
        }
    }
}
