#if Metrics
    internal import Dunlin

    /// The host and port that a request is for.
    struct Server: Hashable, Sendable {
        let address: String
        let port: String

        /// All that are above the limit, or have no name that could be a host's.
        static let other = Server(address: "_other", port: "")

        var labels: [String] { [address, port] }
    }

    /// What a session measures with: options, and the values of labels that they allow.
    struct Instruments: Sendable {
        let options: MetricsOptions
        private let own: [(name: String, value: String)]
        private let session: String

        init(_ options: MetricsOptions) {
            self.options = options
            own = options.labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            session =
                options.omitsEmptyLabels || !own.isEmpty
                ? "\(options.omitsEmptyLabels) \(own.map { "\($0.name)=\($0.value)" })" : ""
        }

        func time(_ instrument: Instrument, _ values: [String], _ duration: Duration) {
            // Clamped, because what follows would trap after 292 years.
            let (seconds, attoseconds) = min(max(duration, .zero), .seconds(9_000_000_000)).components
            give(Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000), to: instrument, values)
        }

        func count(_ instrument: Instrument, _ values: [String] = [], _ number: Int = 1) {
            if number > 0 { give(number, to: instrument, values) }
        }

        @discardableResult
        func give(_ value: Int, to instrument: Instrument, _ values: [String]) -> Bool {
            let key = HandlerKey(instrument: instrument, values: values, session: session)
            return options.store.give(value, to: key, limit: options.handlerLimit) { dimensions(instrument, values) }
        }

        private func dimensions(_ instrument: Instrument, _ values: [String]) -> [(String, String)] {
            var dimensions = zip(instrument.labels, values).map { ($0.rawValue, $1) }
            for label in own where !instrument.labels.contains(where: { $0.rawValue == label.name }) {
                dimensions.append(label)
            }
            return options.omitsEmptyLabels ? dimensions.filter { !$0.1.isEmpty } : dimensions
        }
    }

    extension Instruments {
        func method(_ method: HTTP.Method) -> String {
            options.knownMethods.contains(method) ? method.rawValue : "_OTHER"
        }

        /// The labels of a server. Those that a request of the program's own was not made to, such as where redirects
        /// lead, get no more than half of the names: a server could use all of them up otherwise.
        func server(_ origin: HTTP.Origin, isOwn: Bool) -> Server {
            server(origin.host, origin.port, isOwn: isOwn)
        }

        func server(_ host: String, _ port: UInt16, isOwn: Bool) -> Server {
            let server = Server(address: host, port: String(port))
            let limit = isOwn ? options.hostLimit : options.hostLimit / 2
            guard LabelText.isHost(host), options.store.admits(server, to: \.servers, limit: limit) else {
                return .other
            }
            return server
        }

        /// The request's template; empty if it has none, or none is wanted.
        func template(_ request: HTTPSession.TaskSnapshot) -> String {
            guard options.includesDevelopment, request.hasTemplate else { return "" }
            let template = LabelText.path(of: request.targetTemplate)
            return options.store.admits(template, to: \.templates, limit: options.templateLimit) ? template : "_other"
        }

        /// Why a request or exchange failed: a code, or the status; empty if it did not fail.
        func error(_ error: (any Error)?, _ head: ResponseHead?) -> String {
            switch error {
            case let error as NetworkError:
                if error.code == .unacceptableStatus, let head = error.response ?? head { return status(head) }
                return code(error.code)
            case is CancellationError: return code(.cancelled)
            case .some: return "_OTHER"
            case nil:
                guard let head, head.status.code >= 400 else { return "" }
                return status(head)
            }
        }

        /// Programs may have codes of their own, so their number is limited too.
        func code(_ code: NetworkError.Code) -> String {
            guard LabelText.isWord(code.rawValue), options.store.admits(code.rawValue, to: \.codes, limit: 200) else {
                return "_OTHER"
            }
            return code.rawValue
        }

        func status(_ head: ResponseHead?) -> String { head.map { status($0.status) } ?? "" }

        func status(_ status: HTTP.Status) -> String {
            (100...999).contains(status.code) ? String(status.code) : "_OTHER"
        }

        func version(_ head: ResponseHead?) -> String {
            switch head?.version {
            case .http10: "1.0"
            case .http11: "1.1"
            case nil: ""
            }
        }
    }
#endif
