internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Fetches one file by several parallel exchanges, as `SegmentMachine` decides.
///
/// Each worker is a child task with its own cancellation, which the call's cancellation includes. The call's control
/// counts what all workers bring together. When the first worker reports the end, the others are stopped.
final class SegmentedFetch: Sendable {
    typealias Machine = SegmentMachine<ValueWaiter<Void>>

    enum Outcome: Sendable {
        case complete
        /// The server's file has changed, it ignores ranges, or the bytes are another user's or origin's: the download
        /// starts over.
        case useless
        /// The server sent more than it announced, so what has come may be anything.
        case overrun(NetworkError)
        case failed(any Error)
    }

    /// The plan of a fetch: the length, the number of workers, and what came first.
    struct Plan: Sendable {
        let workers: Int
        let minimum: Int
        let length: Int
        let validator: Validator
        let gaps: [Range<Int>]
        /// The range that the first answer brings.
        let lead: Range<Int>
        /// The user who asked first, and the origin that answered after all redirects.
        let source: ResumeSource
        let arrival: Sending.Arrival
        /// The first exchange.
        let exchange: CallPart
    }

    struct State {
        var machine: Machine
        var asking: AskingMachine<ValueWaiter<Void>>
        var hops = SegmentHops()
        var failure: (any Error)?
        /// Whether everything that came by range is useless.
        var startsOver = false
        var overrun: NetworkError?
        /// The last writer of each worker.
        var writers: [Int: DownloadWriter] = [:]
        var interrupts: [Int: Cancellation] = [:]
        /// How often each worker has sent since it made progress.
        var counts: [Int: SendingMachine] = [:]
        /// The workers that have received something since their last request.
        var progressed: Set<Int> = []
    }

    private let plan: Plan
    private let part: DownloadPart
    private let options: HTTPSession.DownloadOptions
    let request: TransportRequest
    let sending: Sending
    let state: Mutex<State>

    var loop: Reactor { sending.loop }

    /// Creates a fetch; `request` is the original request, before any range was requested.
    init(
        _ plan: Plan, _ part: DownloadPart, _ options: HTTPSession.DownloadOptions, _ request: TransportRequest,
        _ sending: Sending
    ) {
        self.plan = plan
        self.part = part
        self.options = options
        self.request = request
        self.sending = sending
        var rules = Machine.Rules()
        rules.minimum = plan.minimum
        state = Mutex(
            State(
                machine: Machine(rules, workers: plan.workers, gaps: plan.gaps, lead: plan.lead),
                asking: AskingMachine(isOpen: !sending.mayBecomeAnother)))
    }

    /// The hops of all exchanges, except those in the outcome.
    func hops(before outcome: Outcome) -> [HTTP.Hop] { state.withLock { $0.hops.hops(before: outcome) } }

    /// Fetches the file. Returns when nobody fetches or writes any more.
    func run() async -> Outcome {
        sending.control?.receiveTogether()
        let outcome = await withTaskGroup(of: Outcome?.self) { group in
            for worker in 0..<plan.workers { group.addTask { await self.work(worker) } }
            var first: Outcome?
            for await outcome in group {
                guard let outcome, first == nil else { continue }
                first = outcome
                // When all bytes have come, the other workers are stopped.
                if !state.withLock({ $0.machine.isComplete }) { group.cancelAll() }
            }
            return first
        }
        return await ended(outcome)
    }

    private func ended(_ outcome: Outcome?) async -> Outcome {
        let (writers, failure, startsOver, overrun) = state.withLock {
            (Array($0.writers.values), $0.failure, $0.startsOver, $0.overrun)
        }
        if let overrun {
            await settle(writers)
            return .overrun(overrun)
        }
        // A worker that was stopped because all bytes had come reports that it was stopped.
        if state.withLock({ $0.machine.isComplete }) {
            do {
                for writer in writers { try await pump(writer, plan.arrival.response.head, upTo: nil).flush() }
                // Nothing can be missing here; but a file with a hole must never pass for complete.
                guard part.content.gaps(upTo: plan.length).isEmpty else { throw NetworkError.partsMissing }
                return .complete
            } catch {
                await settle(writers)
                return .failed(error)
            }
        }
        await settle(writers)
        if let outcome { return outcome }
        return startsOver ? .useless : .failed(failure ?? NetworkError.partsMissing)
    }

    /// Writes the bytes that have come, which count as far as they are written. It waits only for the disk.
    func settle(_ writers: [DownloadWriter]) async {
        for writer in writers {
            // An error of the disk has been or will be reported elsewhere.
            do throws(Errno) { _ = try await writer.flush(until: .never, nil) } catch {}
        }
    }
}

// MARK: - Workers

extension SegmentedFetch {
    /// Runs a worker. Returns nil if others continue.
    private func work(_ worker: Int) async -> Outcome? {
        let isLead = worker == 0
        let exchange = isLead ? plan.exchange : CallPart(of: sending.delegate)
        state.withLock { $0.interrupts[worker] = exchange.cancellation }
        return await withTaskCancellationHandler {
            if isLead,
                let outcome = await bring(
                    plan.arrival.response, part.writer, upTo: plan.lead.upperBound, worker, exchange)
            {
                return outcome
            }
            while true {
                let waiter = ValueWaiter<Void>(on: loop)
                var outcome: Outcome?
                switch state.withLock({ $0.machine.next(for: worker, waiter) }) {
                case .leave: return state.withLock { $0.machine.isComplete } ? .complete : nil
                case .ask(let range): outcome = await fetch(range, worker, exchange)
                case .wait: outcome = await wait(waiter, worker, exchange, until: .never)
                case .hesitate:
                    let end = loop.now().advanced(by: Machine.Rules().longestWait.clampedNanoseconds)
                    outcome = await wait(waiter, worker, exchange, until: end)
                }
                if let outcome { return outcome }
            }
        } onCancel: {
            exchange.cancellation.cancel(.task)
        }
    }

    /// Waits until the worker is called or may overtake others. Returns nil if the work continues.
    private func wait(
        _ waiter: ValueWaiter<Void>, _ worker: Int, _ exchange: CallPart, until end: HTTP.Instant
    ) async -> Outcome? {
        let outcome = await waiter.wait(until: min(end, request.deadline), cancellation: exchange.cancellation)
        if case .value = outcome { return nil }
        guard case .timedOut = outcome, end < request.deadline else {
            return .failed(Self.stopped(outcome, exchange.cancellation))
        }
        guard let range = state.withLock({ $0.machine.overtake(for: worker) }) else { return nil }
        return await fetch(range, worker, exchange)
    }

    static func stopped(_ outcome: ValueWaiter<Void>.Outcome, _ cancellation: Cancellation) -> any Error {
        if case .timedOut = outcome {
            return NetworkError(
                .timedOut, "the request timed out", phase: .receive, requestMayHaveBeenSent: true, exceeding: .total
            )
        }
        return cancellation.failure(phase: .receive)
    }

    func wake(_ waiters: [ValueWaiter<Void>]) {
        for waiter in waiters { _ = waiter.deliver(()) }
    }

    /// Makes one exchange. Returns nil if the work continues.
    private func fetch(_ range: Range<Int>, _ worker: Int, _ exchange: CallPart) async -> Outcome? {
        switch await permission(exchange) {
        case .given: break
        case .refused:
            wake(state.withLock { $0.machine.refused(worker) })
            return nil
        case .over(let outcome): return outcome
        }
        let brought: Brought
        var arrived: TransportResponse?
        do {
            brought = try await ask(range, worker, exchange, &arrived)
            wake(state.withLock { $0.asking.ended(hasShown: true) })
        } catch {
            wake(state.withLock { $0.asking.ended(hasShown: false) })
            return await broke(error, arrived, worker, exchange)
        }
        let response = brought.response
        switch answer(brought, to: range) {
        case .part(let brought):
            let (isWanted, waiters) = state.withLock { $0.machine.answered(brought, to: worker) }
            wake(waiters)
            if isWanted {
                return await bring(
                    response, writer(at: brought.lowerBound), upTo: brought.upperBound, worker, exchange)
            }
            await discard(response)
            wake(state.withLock { $0.machine.ended(worker) })
            return nil
        case .changed:
            await discard(response)
            return .useless
        case .busy:
            await drop(response)
            let error = SegmentAnswer.Uselessness.status.error(response.head)
            return await broke(error, response, worker, exchange, mayPass: true)
        case .useless(let why):
            await drop(response)
            let failure = noting(why.error(response.head), response, exchange)
            let waiters = state.withLock { state in
                state.failure = failure
                state.startsOver = why == .ignoresRanges || why == .elsewhere
                return state.machine.refused(worker)
            }
            wake(waiters)
            return nil
        }
    }

    /// What one exchange brought.
    private struct Brought {
        let response: TransportResponse
        /// Whether it is for another user or from another source than what came first.
        let isElsewhere: Bool
        /// Whether an interceptor replaced the body, or answered another request.
        let isMade: Bool
    }

    private func answer(_ brought: Brought, to range: Range<Int>) -> SegmentAnswer {
        let answer = SegmentAnswer(
            brought.response.head, isElsewhere: brought.isElsewhere, to: range, plan.validator, of: plan.length)
        if case .part = answer, brought.isMade { return .useless(.refused(.coded)) }
        if case .part(let brought) = answer, state.withLock({ $0.machine.isTooSmall(brought, of: range) }) {
            return .useless(.tooSmall)
        }
        return answer
    }

    /// Sends one request; `arrived` is set to the response as soon as there is one.
    private func ask(
        _ range: Range<Int>, _ worker: Int, _ exchange: CallPart, _ arrived: inout TransportResponse?
    ) async throws -> Brought {
        try await sending.pass()
        let count = state.withLock { state in
            state.progressed.remove(worker) == nil ? state.counts[worker] : nil
        }
        let fields = ResumeMachine.fields(for: range.lowerBound, upTo: range.upperBound, plan.validator)
        let (answer, own) = await sending.delegate.bring(
            sending.beginning(exchange, request.with(fields), count ?? SendingMachine()))
        state.withLock { state in
            state.counts[worker] = own.count
            if let hops = own.callHistory?.hops { state.hops.add(hops) }
        }
        let arrival = try answer.get()
        arrived = arrival.response
        var response = arrival.response
        let isElsewhere = !plan.source.isOf(ResumeSource.Answer(to: own))
        if sending.callTransport.sockets == nil, let control = sending.control, case .stream(let stream) = response.body
        {
            let held = CountedBody(stream, control, until: request.deadline)
            response = response.with(.stream(held), response.hop)
        }
        let reporting = try await sending.observers?.reportingData(of: response, sending) ?? response
        return Brought(
            response: reporting, isElsewhere: isElsewhere,
            isMade: arrival.isChanged || !sending.delegate.hasSentOnlyGETs)
    }
}

// MARK: - Bodies

extension SegmentedFetch {
    private func bring(
        _ response: TransportResponse, _ writer: DownloadWriter, upTo end: Int, _ worker: Int,
        _ exchange: CallPart
    ) async -> Outcome? {
        let isLead = writer === part.writer
        state.withLock { $0.writers[worker] = writer }
        do {
            let pump = pump(writer, response.head, upTo: end, exchange.cancellation) { [self] in
                received($0, by: worker)
            }
            guard try await pump.run(response.body) else { throw NetworkError.tooShort(response.head) }
            await leave(response)
            state.withLock { $0.hops.note(response.latestHop, isLead: isLead) }
            wake(state.withLock { $0.machine.ended(worker) })
            return nil
        } catch let overrun as DownloadPump.Overrun {
            let failure = noting(overrun.error, response, exchange, isLead: isLead)
            guard let error = failure as? NetworkError else { return .failed(failure) }
            state.withLock { $0.overrun = error }
            return .overrun(error)
        } catch {
            return await broke(error, response, worker, exchange, isLead: isLead)
        }
    }

    private func writer(at offset: Int) -> DownloadWriter {
        // Together the writers hold no more of a file in memory than a single one, except for one piece each.
        DownloadWriter(part.content, at: offset, room: max(256 << 10, (2 << 20) / plan.workers), on: loop)
    }

    private func pump(
        _ writer: DownloadWriter, _ head: ResponseHead, upTo end: Int?, _ cancellation: Cancellation? = nil,
        _ claim: DownloadPump.Claim? = nil
    ) -> DownloadPump {
        DownloadPump(
            writer: writer, options: options, sending: sending, head: head,
            cancellation: cancellation ?? sending.delegate.cancellation, end: end, claim: claim)
    }

    private func received(_ count: Int, by worker: Int) -> (skipped: Int, count: Int, isEnd: Bool) {
        let (taken, missing) = state.withLock { state in
            let taken = state.machine.received(count, by: worker)
            if taken.count > 0 { state.progressed.insert(worker) }
            return (taken, state.machine.missing)
        }
        sending.control?.receivedTogether(plan.length - missing)
        if missing == 0 { stopUnansweredWorkers() }
        return (taken.skipped, taken.count, taken.isEnd)
    }

    /// Stops workers that bring nothing, before a connection becomes free for which they may be waiting.
    private func stopUnansweredWorkers() {
        let interrupts = state.withLock { state in state.machine.unansweredWorkers.compactMap { state.interrupts[$0] } }
        for cancellation in interrupts { cancellation.cancel(.task) }
    }

    /// Ends a body that has been read as far as it counts; reads its end if that comes next.
    private func leave(_ response: TransportResponse) async {
        guard case .stream(let stream) = response.body else { return }
        guard stream.hop.bodyBytes == stream.expectedLength else { return await drop(response) }
        // All bytes that count have come. The end decides only whether the connection can be reused.
        do { _ = try await stream.next() } catch {}
    }

    /// Discards a response whose connection cannot be reused.
    private func drop(_ response: TransportResponse) async {
        guard case .stream(let stream) = response.body else { return }
        do { try await sending.callTransport.drain(stream, upTo: 0, until: loop.now()) } catch {}
    }

    /// Discards a response of which nothing counts.
    private func discard(_ response: TransportResponse) async {
        await drop(response)
        state.withLock { $0.hops.note(response.latestHop) }
    }
}
