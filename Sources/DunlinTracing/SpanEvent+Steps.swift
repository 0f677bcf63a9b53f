#if Tracing
    internal import Dunlin
    internal import Tracing

    extension SpanEvent {
        static var cancelled: SpanEvent { SpanEvent(name: "dunlin.cancelled") }

        /// A step of a request.
        init(_ step: HTTPSession.RequestStep) {
            var attributes: SpanAttributes = [:]
            let name: String
            switch step {
            case .queued: name = "queued"
            case .admitted(let wait):
                name = "admitted"
                attributes[.wait] = wait.milliseconds
            case .suspended: name = "suspended"
            case .resumed: name = "resumed"
            case .waitingForConnectivity(let error):
                name = "waiting_for_connectivity"
                attributes[.error] = SpanText.word(error.code.rawValue)
                attributes[.errorPhase] = error.phase?.rawValue
            case .retrying(let attempt):
                name = "retrying"
                attributes[.wait] = attempt.wait.milliseconds
                switch attempt.cause {
                case .status(let status): attributes[.status] = status.code
                case .failure(let code, let phase):
                    attributes[.error] = SpanText.word(code.rawValue)
                    attributes[.errorPhase] = phase?.rawValue
                }
            case .redirected(let redirect, to: _):
                // Where to is the URL of the next span.
                name = "redirected"
                attributes[.status] = redirect.status.code
            case .sendingAgain(let reason):
                name = "sending_again"
                attributes[.reason] = reason.rawValue
            case .joined: name = "joined"
            case .servedFromCache(let use):
                name = "served_from_cache"
                attributes[.cacheSource] = use.source.rawValue
                attributes[.cacheState] = use.isRevalidated ? "revalidated" : use.isStale ? "stale" : "fresh"
            case .downloadResumed(let offset, of: _):
                name = "download_resumed"
                attributes[.offset] = offset
            }
            self.init(name: "dunlin." + name, attributes: attributes)
        }

        /// One event for each phase of a hop, at its beginning. Phases follow each other, so their beginnings are
        /// counted from that of the hop, which ends with the span.
        static func phases(
            of hop: HTTP.Hop, from begun: DefaultTracerClock.Timestamp, to now: DefaultTracerClock.Timestamp
        ) -> [SpanEvent] {
            var time = beginning(of: hop, begun, now)
            let end = now.nanosecondsSinceEpoch
            return HTTP.Phase.allCases.compactMap { phase in
                guard let duration = hop.duration(of: phase) else { return nil }
                defer { time = min(end, time + min(duration.nanoseconds, end)) }
                return SpanEvent(
                    name: "dunlin.phase." + phase.rawValue,
                    at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: time),
                    attributes: [SpanKey.duration.rawValue: .double(duration.milliseconds)])
            }
        }

        private static func beginning(
            of hop: HTTP.Hop, _ begun: DefaultTracerClock.Timestamp, _ now: DefaultTracerClock.Timestamp
        ) -> UInt64 {
            let (total, end) = (hop.total.nanoseconds, now.nanosecondsSinceEpoch)
            return max(begun.nanosecondsSinceEpoch, end > total ? end - total : 0)
        }
    }

    extension Duration {
        /// In milliseconds, with microseconds behind the point.
        fileprivate var milliseconds: Double { (self / .microseconds(1)).rounded() / 1000 }

        /// In nanoseconds; zero for what is below, and at most a hundred years.
        fileprivate var nanoseconds: UInt64 {
            let (seconds, attoseconds) = min(max(self, .zero), .seconds(3_155_760_000)).components
            return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        }
    }
#endif
