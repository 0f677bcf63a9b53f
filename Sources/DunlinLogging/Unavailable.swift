#if !Logging
    public import Dunlin

    // What the module offers with its trait, so that a program that forgot it is told.

    extension HTTPSession.Configuration {
        @available(
            *, unavailable,
            message: "enable the trait Logging of the package dunlin: .package(url: …, traits: [\"Logging\"])"
        )
        public mutating func log<Logger>(
            to logger: Logger, _ change: (inout HTTPSession.LogSettings) -> Void = { _ in }
        ) {}
    }

    extension HTTPSession {
        @available(
            *, unavailable,
            message: "enable the trait Logging of the package dunlin: .package(url: …, traits: [\"Logging\"])"
        )
        public struct LogSettings: Sendable {
            public struct Levels: Sendable, Hashable {
                /// The levels of swift-log.
                public enum Level: String, Sendable, Hashable, CaseIterable {
                    case trace, debug, info, notice, warning, error, critical
                }

                public var success: Level?
                public var clientError: Level?
                public var serverError: Level?
                public var failure: Level?
                public var cancelled: Level?
                public var steps: Level?

                public init() {}
            }

            public var levels = Levels()
            public var requestIDField: String?
            public var requestIDKeys: [String] = []
            public var passesErrors = false

            public init() {}
        }

        @available(
            *, unavailable,
            message: "enable the trait Logging of the package dunlin: .package(url: …, traits: [\"Logging\"])"
        )
        public enum LogKey: String, Sendable, Hashable, CaseIterable {
            case method, template, path, host, port, status, error, peer, peerPort, phase, task, requestID, attempts,
                exchanges, duration, phases, bytesSent, bytesReceived, reused, proxy, cacheSource, cacheState,
                cacheStatus, joined, revalidation, step, reason, wait, offset, redirectHost, redirectPath
        }
    }
#endif
