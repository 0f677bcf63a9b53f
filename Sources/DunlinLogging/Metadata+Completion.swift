#if Logging
    internal import Dunlin
    internal import Logging

    extension Logger.Metadata {
        subscript(_ key: HTTPSession.LogKey) -> Logger.MetadataValue? {
            get { self[key.rawValue] }
            set { self[key.rawValue] = newValue }
        }

        /// Adds what the end of a request says of it.
        mutating func describe(_ completion: HTTPSession.Completion) {
            if let (host, port) = LogText.host(of: completion.url) {
                self[.host] = "\(host)"
                self[.port] = .stringConvertible(port)
            }
            if !completion.task.hasTemplate { self[.path] = "\(LogText.path(of: completion.url))" }
            self[.status] = (completion.status?.code).map { .stringConvertible($0) }
            if let error = completion.error { describe(error) }
            let hops = completion.metrics.hops
            if let last = hops.last { describe(hops, last: last) }
        }

        private mutating func describe(_ hops: [HTTP.Hop], last: HTTP.Hop) {
            self[.bytesSent] = .stringConvertible(hops.reduce(0) { $0 + $1.bytesSent })
            self[.bytesReceived] = .stringConvertible(hops.reduce(0) { $0 + $1.bytesReceived })
            if last.connection != 0 { self[.reused] = .stringConvertible(last.isConnectionReused) }
            self[.proxy] = last.proxy.map { "\(LogText.proxy($0))" }
            if let peer = last.peer {
                self[.peer] = "\(LogText.visible(peer.host))"
                self[.peerPort] = peer.port.map { .stringConvertible($0) }
            }
            var phases: Logger.Metadata = [:]
            for phase in HTTP.Phase.allCases {
                let times = hops.compactMap { $0.duration(of: phase) }
                if !times.isEmpty { phases[phase.rawValue] = .milliseconds(times.reduce(.zero, +)) }
            }
            if !phases.isEmpty { self[.phases] = .dictionary(phases) }
        }

        /// Adds the kind of an error and the phase, and nothing that anybody wrote.
        mutating func describe(_ error: any Error) {
            self[.error] = "\(LogText.kind(of: error))"
            self[.phase] = (error as? NetworkError)?.phase.map { "\($0.rawValue)" }
        }

        /// Adds what the cache did.
        mutating func describe(_ use: HTTPSession.CacheUse) {
            self[.cacheSource] = "\(use.source.rawValue)"
            self[.cacheState] = "\(use.isRevalidated ? "revalidated" : use.isStale ? "stale" : "fresh")"
            self[.cacheStatus] = "\(LogText.visible(use.status))"
        }

        mutating func describe(_ cause: NetworkError.RetriedAttempt.Cause) {
            switch cause {
            case .status(let status): self[.status] = .stringConvertible(status.code)
            case .failure(let code, let phase):
                self[.error] = "\(LogText.visible(code.rawValue, upTo: LogText.longestKind))"
                self[.phase] = phase.map { "\($0.rawValue)" }
            }
        }
    }

    extension Logger.MetadataValue {
        /// A duration in milliseconds, as a number with microseconds behind the point.
        static func milliseconds(_ duration: Duration) -> Self {
            .stringConvertible((duration / .microseconds(1)).rounded() / 1000)
        }
    }

    extension LogText {
        static let longestKind = 64

        /// The status of a response that was refused, the code of another `NetworkError`, `cancelled`, or the type of
        /// another error.
        static func kind(of error: any Error) -> String {
            if error is CancellationError { return NetworkError.Code.cancelled.rawValue }
            let known = error as? NetworkError
            if let status = known?.refusedStatus { return "\(status.code)" }
            return visible(known?.code.rawValue ?? "\(type(of: error))", upTo: longestKind)
        }

        /// The scheme, host and port of a proxy's URL.
        static func proxy(_ url: String) -> String {
            guard let (host, port) = host(of: url) else { return "***" }
            let scheme = visible(String(url.prefix { $0 != ":" }), upTo: 16)
            return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        }
    }

    extension HTTP.SocketAddress {
        /// Nil for a Unix socket.
        fileprivate var port: UInt16? {
            switch self {
            case .v4(_, let port), .v6(_, _, let port, _): port
            case .unix: nil
            }
        }
    }

    extension NetworkError {
        /// The status for which a response was refused.
        fileprivate var refusedStatus: HTTP.Status? { code == .unacceptableStatus ? response?.status : nil }
    }

    extension HTTPSession.Completion {
        /// What came of the request, in the same words for all with the same outcome.
        var outcome: String {
            let isAnswer = error == nil || (error as? NetworkError)?.refusedStatus != nil
            guard isAnswer, let status else { return error.map(LogText.kind) ?? "ended" }
            return "\(status) \(status.phrase)"
        }
    }
#endif
