#if Metrics
    internal import Dunlin

    /// A value of a label, told apart by its number.
    struct LabelValue: Sendable {
        let number: UInt32
        let text: String

        static let none = LabelValue(number: 0, text: "")
        /// What has no name, or none within the limits.
        static let other = LabelValue(number: 1, text: "_other")
        /// The same where OpenTelemetry has a word for it.
        static let unknown = LabelValue(number: 1, text: "_OTHER")
    }

    /// The server that a request is for.
    struct Server: Sendable {
        struct Name: Hashable, Sendable {
            let host: String
            let port: UInt16
        }

        let number: UInt32
        let name: Name?

        static let none = Server(number: 0, name: nil)
        static let other = Server(number: 1, name: nil)

        var address: String { name?.host ?? (number == 1 ? "_other" : "") }
        var port: String { name.map { String($0.port) } ?? "" }
    }

    /// The values of a time series' labels, as far as it has these labels. Texts are not looked at until there is a
    /// handler to make.
    struct LabelSet: Sendable {
        var method = LabelValue.none
        var server = Server.none
        var status: HTTP.Status?
        var version: HTTP.Version?
        var error = LabelValue.none
        var template = LabelValue.none
        var operation = LabelValue.none
        /// A phase, a reason, a state, a peer: what only some metrics have.
        var detail = LabelValue.none
        var state = LabelValue.none

        func text(of label: Label) -> String {
            switch label {
            case .method: method.text
            case .address: server.address
            case .port: server.port
            case .status: status.map { String($0.code) } ?? ""
            case .version: versionText
            case .error: error.text
            case .template: template.text
            case .operation: operation.text
            case .peer, .connectionState, .phase, .reason, .cacheSource: detail.text
            case .cacheState: state.text
            }
        }

        private var versionText: String {
            switch version {
            case .http10: "1.0"
            case .http11: "1.1"
            case nil: ""
            }
        }
    }

    /// What a time series is told apart by: its metric, and the numbers of its labels' values. Compared once for
    /// everything that is measured, so it is three words.
    struct HandlerKey: Hashable, Sendable {
        private let servers: UInt64
        private let errors: UInt64
        private let others: UInt64

        init(_ instrument: Instrument, _ labels: LabelSet, session: UInt32) {
            servers = UInt64(labels.server.number) | UInt64(labels.template.number) << 32
            errors =
                UInt64(UInt16(truncatingIfNeeded: labels.error.number))
                | UInt64(UInt16(truncatingIfNeeded: session)) << 16 | UInt64(labels.operation.number) << 32
            let version: UInt64 =
                switch labels.version {
                case nil: 0
                case .http10: 1
                case .http11: 2
                }
            let status = UInt64(UInt16(truncatingIfNeeded: labels.status?.code ?? 0))
            others =
                UInt64(instrument.rawValue) | status << 8 | version << 24
                | UInt64(UInt8(truncatingIfNeeded: labels.state.number) & 0xF) << 28
                | UInt64(UInt16(truncatingIfNeeded: labels.detail.number)) << 32
                | UInt64(UInt16(truncatingIfNeeded: labels.method.number)) << 48
        }
    }
#endif
