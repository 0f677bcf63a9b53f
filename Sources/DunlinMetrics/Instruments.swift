#if Metrics
    internal import Dunlin

    /// What a session measures with: settings, and the values of labels that they allow.
    struct Instruments: Sendable {
        let settings: HTTPSession.MetricsSettings
        private let own: [(name: String, value: String)]
        private let session: UInt32

        init(_ settings: HTTPSession.MetricsSettings) {
            self.settings = settings
            let own = settings.labels.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            let names = own.flatMap { [$0.name, $0.value] } + (settings.omitsEmptyLabels ? [""] : [])
            let number =
                names.isEmpty ? 0 : settings.store.number(of: names, in: \.sessions, limit: Self.mostSessions)
            session = number ?? 1
            self.own = number == nil ? own.map { ($0.name, LabelValue.other.text) } : own
        }

        /// How many sets of labels of their own sessions have. A program may make sessions without end.
        private static let mostSessions = 100

        func time(_ instrument: Instrument, _ labels: LabelSet, _ duration: Duration) {
            give(Int(Self.nanoseconds(duration)), to: instrument, labels)
        }

        /// Clamped, because the sum would trap after 292 years.
        static func nanoseconds(_ duration: Duration) -> Int64 {
            let (seconds, attoseconds) = min(max(duration, .zero), .seconds(9_000_000_000)).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }

        func count(_ instrument: Instrument, _ labels: LabelSet = LabelSet(), _ number: Int = 1) {
            if number > 0 { give(number, to: instrument, labels) }
        }

        @discardableResult
        func give(_ value: Int, to instrument: Instrument, _ labels: LabelSet) -> Bool {
            let key = HandlerKey(instrument, labels, session: session)
            return settings.store.give(value, to: key, of: instrument, limit: settings.handlerLimit) {
                dimensions(instrument, labels)
            }
        }

        private func dimensions(_ instrument: Instrument, _ labels: LabelSet) -> [(String, String)] {
            var dimensions = instrument.labels.filter { isWanted($0, of: instrument) }
                .map { ($0.rawValue, labels.text(of: $0)) }
            for label in own where !instrument.labels.contains(where: { $0.rawValue == label.name }) {
                dimensions.append(label)
            }
            return settings.omitsEmptyLabels ? dimensions.filter { !$0.1.isEmpty } : dimensions
        }
    }

    extension Instruments {
        private func isWanted(_ label: Label, of instrument: Instrument) -> Bool {
            switch (label, instrument) {
            case (.operation, _): settings.includesOperations
            case (.peer, _), (.version, .openConnections), (.version, .connectionDuration): settings.includesPeers
            default: true
            }
        }

        /// The address that a connection was connected to, as far as there is room for it: those of one host may change
        /// without end. A Unix socket is another.
        func peer(_ address: HTTP.SocketAddress?) -> LabelValue {
            guard let host = address?.host else { return .none }
            let number = settings.store.number(
                of: host, in: \.peers, limit: settings.hostLimit, valid: LabelText.isHost)
            return number.map { LabelValue(number: $0, text: host) } ?? .other
        }

        func method(_ method: HTTP.Method) -> LabelValue {
            guard settings.knownMethods.contains(method),
                let number = settings.store.number(of: method.rawValue, in: \.methods)
            else { return .unknown }
            return LabelValue(number: number, text: method.rawValue)
        }

        /// The labels of a server. Those that a request of the program's own was not made to, such as where redirects
        /// lead, get no more than half of the names: a server could use all of them up otherwise.
        func server(_ host: String, _ port: UInt16, isOwn: Bool) -> Server {
            let name = Server.Name(host: host, port: port)
            let limit = isOwn ? settings.hostLimit : settings.hostLimit / 2
            let number = settings.store.number(of: name, in: \.servers, limit: limit) { LabelText.isHost($0.host) }
            return number.map { Server(number: $0, name: name) } ?? .other
        }

        /// The request's template; none if it has none, or none is wanted.
        func template(_ request: HTTPSession.TaskSnapshot) -> LabelValue {
            guard settings.includesDevelopment, let path = request.pathTemplate else { return .none }
            let template = LabelText.path(path)
            let number = settings.store.number(of: template, in: \.templates, limit: settings.templateLimit)
            return number.map { LabelValue(number: $0, text: template) } ?? .other
        }

        /// What the API's description calls the request; none if nothing, or it is not wanted.
        func operation(_ request: HTTPSession.TaskSnapshot) -> LabelValue {
            guard settings.includesOperations, let name = request.operation else { return .none }
            let number = settings.store.number(
                of: name, in: \.operations, limit: settings.templateLimit, valid: LabelText.isWord)
            return number.map { LabelValue(number: $0, text: name) } ?? .other
        }

        /// Why a request or exchange failed: a code, or the status; none if it did not fail.
        func error(_ error: (any Error)?, _ head: ResponseHead?) -> LabelValue {
            switch error {
            case let error as NetworkError:
                if error.code == .unacceptableStatus, let head = error.response ?? head { return code(head.status) }
                return code(error.code)
            case is CancellationError: return code(.cancelled)
            case .some: return .unknown
            case nil:
                guard let head, head.status.code >= 400 else { return .none }
                return code(head.status)
            }
        }

        /// Programs may have codes of their own, so their number is limited too.
        func code(_ code: NetworkError.Code) -> LabelValue {
            let number = settings.store.number(of: code.rawValue, in: \.codes, limit: 200, valid: LabelText.isWord)
            return number.map { LabelValue(number: $0, text: code.rawValue) } ?? .unknown
        }

        /// A status as the type of an error. Its number is none that a code has.
        func code(_ status: HTTP.Status) -> LabelValue {
            guard let status = valid(status) else { return .unknown }
            return LabelValue(number: 1000 + UInt32(status.code), text: String(status.code))
        }

        /// A status that is one; a custom transport may say anything.
        func valid(_ status: HTTP.Status?) -> HTTP.Status? {
            status.flatMap { (100...999).contains($0.code) ? $0 : nil }
        }

        /// A word of Dunlin's, of which there are few.
        func detail(_ text: String) -> LabelValue {
            settings.store.number(of: text, in: \.details).map { LabelValue(number: $0, text: text) } ?? .other
        }
    }
#endif
