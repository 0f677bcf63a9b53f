import Dunlin
import DunlinCommandLine
import DunlinTypes
import Synchronization

/// What is known of a transfer when it is over, well or not.
struct TransferFacts {
    /// How many redirects were followed so far, for a transfer that has no answer to tell it.
    final class Redirects: HTTPSession.Observer, HTTPSession.RequestObserver {
        private let followed = Atomic<Int>(0)

        var count: Int { followed.load(ordering: .relaxed) }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { self }

        func noted(_ step: HTTPSession.RequestStep) {
            if case .redirected = step { followed.add(1, ordering: .relaxed) }
        }
    }

    let head: ResponseHead?
    let url: String
    let redirects: Int
    let hops: [HTTP.Hop]

    /// The value of a variable as curl prints it.
    subscript(variable: WriteOut.Variable) -> String {
        switch variable {
        case .contentType: head?.fields["Content-Type"] ?? ""
        case .status: head.map { "\($0.status.code)" } ?? "000"
        case .redirects: "\(redirects)"
        case .address: hops.last?.peer?.host ?? ""
        case .size: "\(hops.last?.bodyBytes ?? 0)"
        case .resolved: Self.seconds(time(after: .resolve))
        case .connected: Self.seconds(time(after: .connect))
        case .secured: Self.seconds(hops.last?.duration(of: .tls) == nil ? 0 : time(after: .tls))
        case .prepared: Self.seconds(time(after: .tls))
        case .redirected: Self.seconds(time(after: nil))
        case .answered: Self.seconds(time(after: .firstByte))
        case .whole: Self.seconds(max(whole, time(after: .firstByte)))
        case .url: url
        }
    }

    /// The nanoseconds from the beginning of the first hop to the end of a phase of the last one; with nil to its
    /// beginning.
    private func time(after phase: HTTP.Phase?) -> Int64 {
        guard let last = hops.last, let first = hops.first else { return 0 }
        let phases = phase.map { phase in HTTP.Phase.allCases.prefix { $0 != phase } + [phase] } ?? []
        return phases.reduce(last.started.nanoseconds - first.started.nanoseconds) { $0 + last[$1] }
    }

    private var whole: Int64 {
        guard let last = hops.last, let first = hops.first else { return 0 }
        return last.ended.nanoseconds - first.started.nanoseconds
    }

    /// Seconds with six decimals.
    private static func seconds(_ nanoseconds: Int64) -> String {
        let microseconds = max(0, nanoseconds) / 1000
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}

extension TransferFacts {
    init(_ response: HTTPSession.StreamedResponse) {
        self.init(
            head: response.head, url: response.url, redirects: response.history.count, hops: response.metrics.hops)
    }

    init<Value>(_ response: HTTPSession.Response<Value>) {
        self.init(
            head: response.head, url: response.url, redirects: response.history.count, hops: response.metrics.hops)
    }

    init(_ error: NetworkError, of url: String, _ redirects: Redirects) {
        // The error's URL is without its secrets.
        let last = redirects.count == 0 ? nil : error.request?.url
        self.init(
            head: error.response, url: last ?? URLWord.named(url), redirects: redirects.count,
            hops: error.hop.map { [$0] } ?? [])
    }
}
