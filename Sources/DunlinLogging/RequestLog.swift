#if Logging
    internal import Dunlin
    internal import Logging
    internal import Synchronization

    /// The lines about one request, and its id.
    final class RequestLog: HTTPSession.RequestObserver {
        typealias Key = HTTPSession.LogKey

        /// What is known of the request only as it goes on.
        fileprivate struct State {
            var id: String?
            var attempts = 1
            var exchanges = 0
            var cache: HTTPSession.CacheUse?
            var isJoined = false
            /// How long its handle waited to be resumed for the first time.
            var unresumed: Duration?
        }

        /// The logger, and what the request's task adds; nil if only an id is sent.
        private let log: (logger: Logger, metadata: Logger.Metadata)?
        private let settings: HTTPSession.LogSettings
        /// The method, and the target if it is a template: without values.
        private let name: String
        /// When a handle was made; nil for a request that runs at once.
        private let made: ContinuousClock.Instant?
        private let state: Mutex<State>

        init(
            _ log: (logger: Logger, metadata: Logger.Metadata)?, _ settings: HTTPSession.LogSettings, id: String?,
            _ request: HTTPSession.TaskSnapshot
        ) {
            self.settings = settings
            state = Mutex(State(id: id))
            made = request.state == .suspended ? .now : nil
            guard let (logger, taskMetadata) = log else {
                (self.log, name) = (nil, "")
                return
            }
            let target = LogText.path(of: request.targetTemplate)
            let method = LogText.visible(request.method.rawValue, upTo: 32)
            name = request.hasTemplate ? "\(method) \(target)" : method
            var metadata = taskMetadata
            metadata[.method] = "\(method)"
            if let path = request.pathTemplate {
                metadata[.template] = "\(LogText.path(of: path))"
            } else {
                metadata[.path] = "\(target)"
            }
            metadata[.task] = .stringConvertible(request.id.rawValue)
            if request.isRevalidation { metadata[.revalidation] = .stringConvertible(true) }
            self.log = (logger, metadata)
        }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            noteBeginning()
            state.withLock { state in
                state.attempts = max(state.attempts, exchange.attempt)
                state.exchanges += 1
            }
            if let field = settings.requestIDField { add(field, to: exchange, &fields) }
            return stepLevel == nil ? nil : ExchangeLog(request: self)
        }

        /// The level of lines between the beginning and the end; nil if none is written.
        private var stepLevel: Logger.Level? {
            guard let log, let level = settings.levels.steps, log.logger.logLevel <= level else { return nil }
            return level
        }

        /// Adds the id, unless the caller has sent one, which is then the request's.
        private func add(_ field: String, to exchange: HTTPSession.Exchange, _ fields: inout Fields) {
            if let own = exchange.head.fields[field] {
                state.withLock { $0.id = RequestID.valid(own) }
            } else if !exchange.isElsewhere, let id = state.withLock({ $0.id }) {
                fields[field] = id
            }
        }

        func noted(_ step: HTTPSession.RequestStep) {
            note(step)
            if stepLevel != nil { write(StepLine(step)) }
        }

        /// Keeps what the last line tells of it.
        private func note(_ step: HTTPSession.RequestStep) {
            switch step {
            case .joined: state.withLock { $0.isJoined = true }
            case .servedFromCache(let use): state.withLock { $0.cache = use }
            case .suspended: return
            default: break
            }
            noteBeginning()
        }

        /// Notes that a handle runs, with its first step or exchange: the thread that resumes it may tell so later.
        private func noteBeginning() {
            guard let wait = made?.duration(to: .now) else { return }
            state.withLock { $0.unresumed = $0.unresumed ?? wait }
        }

        /// Writes a line about something between the beginning and the end.
        func write(_ line: StepLine) {
            guard let log, let level = stepLevel else { return }
            var metadata = log.metadata
            metadata[.step] = "\(line.step)"
            metadata[.requestID] = state.withLock { $0.id }.map { "\($0)" }
            metadata.merge(line.metadata) { _, new in new }
            log.logger.log(level: level, "\(name): \(line.text)", metadata: metadata)
        }

        func ended(_ completion: HTTPSession.Completion) {
            guard let log, let level = settings.levels.level(of: completion), log.logger.logLevel <= level else {
                return
            }
            var metadata = log.metadata
            metadata.describe(completion)
            state.withLock { $0 }.add(to: &metadata, completion)
            log.logger.log(
                level: level, "\(name): \(completion.outcome)", error: settings.passesErrors ? completion.error : nil,
                metadata: metadata)
        }
    }

    extension RequestLog.State {
        fileprivate func add(to metadata: inout Logger.Metadata, _ completion: HTTPSession.Completion) {
            metadata[.requestID] = id.map { "\($0)" }
            metadata[.attempts] = .stringConvertible(attempts)
            metadata[.exchanges] = .stringConvertible(exchanges)
            if let cache { metadata.describe(cache) }
            if isJoined { metadata[.joined] = .stringConvertible(true) }
            metadata[.duration] = .milliseconds(max(.zero, completion.task.age - (unresumed ?? .zero)))
        }
    }
#endif
