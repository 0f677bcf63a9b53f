#if Tracing
    internal import Dunlin
    internal import Synchronization
    internal import Tracing

    /// The spans of one request: its own, if that is wanted, and one for each exchange.
    ///
    /// Rules:
    /// 1. Spans are made, changed and ended outside the lock.
    /// 2. Steps are events of the request's span. Without one they are events of the exchange that follows; what is not
    ///    followed by one, such as an answer from the cache, is then not recorded.
    /// 3. The request's span is made by what is called in order. `suspended` and `resumed` are not, and only wait to be
    ///    recorded.
    /// 4. A revalidation begins a trace of its own, with a link to the context of the task that led to it.
    final class RequestSpans: HTTPSession.RequestObserver {
        fileprivate struct State {
            var span: (any Tracing.Span)?
            /// When the request began to run; nil for a handle that was not resumed yet.
            var begun: DefaultTracerClock.Timestamp?
            var waiting: [SpanEvent] = []
            /// How many events were recorded or wait.
            var events = 0
            /// Where the first exchange was sent, if its template describes that.
            var described: (origin: HTTP.Origin, target: String)?
            var isRedirected = false
            var exchanges = 0
        }

        /// How many events the span of a request has at most: a download may be tried again for days.
        static let mostEvents = 128

        private let context: ServiceContext
        private let instruments: Instruments
        private let settings: HTTPSession.SpanSettings
        private let method: SpanMethod
        /// The path of the request's template; nil if it has none.
        private let template: String?
        /// What the API's description calls the request.
        private let operation: String?
        private let isRevalidation: Bool
        private let state: Mutex<State>

        init(
            _ request: HTTPSession.TaskSnapshot, _ context: ServiceContext, _ instruments: Instruments,
            _ settings: HTTPSession.SpanSettings
        ) {
            self.context = context
            self.instruments = instruments
            self.settings = settings
            method = SpanMethod(request.method, settings)
            // The path of a base URL may be what is not to be shown.
            let path = settings.showsPaths ? request.pathTemplate : request.pathTemplate(below: "/")
            template = path.map(SpanText.path)
            operation = request.operation.map(SpanText.word)
            isRevalidation = request.isRevalidation
            state = Mutex(State(begun: request.state == .suspended ? nil : DefaultTracerClock.now))
        }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            state.withLock { $0.begin() }
            let parent = settings.recordsRequests ? span(exchange.task) : nil
            let (isDescribed, waiting) = state.withLock { state -> (Bool, [SpanEvent]) in
                state.exchanges += 1
                let isDescribed = state.describes(exchange)
                guard parent == nil else { return (isDescribed, []) }
                defer { (state.waiting, state.events) = ([], 0) }
                return (isDescribed, state.waiting)
            }
            let method = SpanMethod(exchange.head.method, settings)
            let template = isDescribed ? template : nil
            let name = method.name(isDescribed ? operation ?? template : nil)
            let span = makeSpan(name, .client, below: parent, at: DefaultTracerClock.now)
            for event in waiting { span.addEvent(event) }
            let context = ContextFields(span.context, of: exchange, by: instruments.injecting, settings)
            context.add(to: &fields)
            let recorded = ExchangeSpan(span, settings, of: exchange, droppedFields: context.dropped)
            if span.isRecording { recorded.describe(exchange, method, template) }
            return recorded
        }

        func noted(_ step: HTTPSession.RequestStep) {
            let isInOrder: Bool
            switch step {
            case .suspended, .resumed: isInOrder = false
            default: isInOrder = true
            }
            let event = SpanEvent(step)
            state.withLock { state in
                state.follow(step)
                guard state.events < Self.mostEvents else { return }
                state.events += 1
                state.waiting.append(event)
            }
            if isInOrder, let span = state.withLock({ $0.span }) { flush(into: span) }
        }

        func ended(_ completion: HTTPSession.Completion) {
            let hasBegun = state.withLock { $0.begun != nil }
            guard settings.recordsRequests, hasBegun else { return }
            let span = span(completion.task)
            if span.isRecording { describe(completion, span) }
            span.end()
        }
    }

    extension RequestSpans {
        /// The request's span, with all events so far.
        private func span(_ request: HTTPSession.TaskSnapshot) -> any Tracing.Span {
            let (known, begun) = state.withLock { ($0.span, $0.begun) }
            let span = known ?? makeSpan(method.name(operation ?? template), .internal, below: nil, at: begun)
            if known == nil { state.withLock { $0.span = span } }
            flush(into: span)
            return span
        }

        private func flush(into span: any Tracing.Span) {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for event in waiting { span.addEvent(event) }
        }

        private func makeSpan(
            _ name: String, _ kind: SpanKind, below parent: (any Tracing.Span)?, at begun: DefaultTracerClock.Timestamp?
        ) -> any Tracing.Span {
            let above = parent?.context ?? (isRevalidation ? .topLevel : context)
            let span: any Tracing.Span = instruments.tracer.startSpan(
                name, context: above, ofKind: kind, at: begun ?? DefaultTracerClock.now)
            if parent == nil, isRevalidation, !context.isEmpty {
                span.addLink(SpanLink(context: context, attributes: [:]))
            }
            return span
        }

        private func describe(_ completion: HTTPSession.Completion, _ span: any Tracing.Span) {
            var attributes: SpanAttributes = [:]
            attributes[.task] = Int(clamping: completion.task.id.rawValue)
            attributes[.exchanges] = state.withLock { $0.exchanges }
            if settings.includesDevelopment { attributes[.template] = template }
            let failure = Failure(of: completion)
            failure?.describe(&attributes)
            span.updateAttributes { $0.merge(attributes) }
            if let failure { span.setStatus(failure.status) }
            if completion.error?.isCancellation == true { span.addEvent(.cancelled) }
        }
    }

    extension RequestSpans.State {
        /// Whether the request's template describes the target of an exchange: not where a redirect has led.
        fileprivate mutating func describes(_ exchange: HTTPSession.Exchange) -> Bool {
            let head = exchange.head
            if described == nil, !isRedirected, !exchange.isElsewhere { described = (head.origin, head.target) }
            guard let described else { return false }
            return described.target == head.target && described.origin.isSame(as: head.origin)
        }

        /// Notes that the request runs, with its first step or exchange: the thread that resumes its handle may tell so
        /// later, when the request may even be over.
        fileprivate mutating func begin() {
            if begun == nil { begun = DefaultTracerClock.now }
        }

        fileprivate mutating func follow(_ step: HTTPSession.RequestStep) {
            if case .suspended = step { return }
            begin()
            switch step {
            case .redirected: isRedirected = true
            case .retrying: isRedirected = false
            default: break
            }
        }
    }
#endif
