#if Tracing
    internal import Dunlin
    internal import Tracing

    /// Why a span failed, without anything that a program or a peer has written.
    struct Failure {
        /// The status of the response, the code of a `NetworkError`, or the type of another error.
        private let type: String
        private let phase: HTTP.Phase?
        /// Nil if the response's status says it.
        private let message: String?

        /// Nil if an exchange did not fail: a status below 400, and no error.
        init?(of end: HTTPSession.ExchangeEnd) {
            if let status = end.head?.status, status.code >= 400 {
                self.init(status)
            } else {
                self.init(end.error)
            }
        }

        /// Nil if a request did not fail. What the program takes for a success is one, whatever its status.
        init?(of completion: HTTPSession.Completion) {
            let error = completion.error as? NetworkError
            if error?.code == .unacceptableStatus, let status = error?.response?.status {
                self.init(status)
            } else {
                self.init(completion.error)
            }
        }

        private init(_ status: HTTP.Status) {
            (type, phase, message) = (String(status.code), nil, nil)
        }

        private init?(_ error: (any Error)?) {
            guard let error else { return nil }
            let known = error as? NetworkError
            // The same word whoever has cancelled, and as in metrics.
            let code = error.isCancellation ? NetworkError.Code.cancelled : known?.code
            let name = SpanText.word(code?.rawValue ?? "\(Swift.type(of: error))")
            (type, phase) = (name, known?.phase)
            message = known?.phase.map { "\(name) in \($0.rawValue)" } ?? name
        }

        var status: SpanStatus { SpanStatus(code: .error, message: message) }

        func describe(_ attributes: inout SpanAttributes) {
            attributes[.error] = type
            attributes[.errorPhase] = phase?.rawValue
        }
    }

    extension Error {
        /// Whether somebody gave up.
        var isCancellation: Bool {
            self is CancellationError || (self as? NetworkError)?.code == .cancelled
        }
    }
#endif
