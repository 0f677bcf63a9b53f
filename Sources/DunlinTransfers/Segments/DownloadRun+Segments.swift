internal import DunlinSemantics
internal import DunlinTransport

/// Fetches the rest of a file, or its missing parts, by further exchanges while one body comes.
extension DownloadRun {
    /// Whether several exchanges may fetch the file, if the server allows it.
    func maySplit(_ sending: Sending) -> Bool { options.segments?.count ?? 1 > 1 && mayAskAgain(sending) && !isAlone }

    /// The plan to fetch what is missing; nil if the current body is all of it.
    func plan(
        _ arrival: Sending.Arrival, _ sending: Sending, _ part: DownloadPart
    ) -> SegmentedFetch.Plan? {
        guard let exchange = sending.part, mayAskAgain(sending), machine.isResumable, !arrival.isChanged,
            let validator = machine.validator, let source, let length = machine.completeLength, machine.offset < length
        else { return nil }
        let gaps = part.content.gaps(upTo: length)
        let minimum = options.segments?.minimumLength ?? HTTPSession.Segments.defaultMinimum
        let workers = workers(for: gaps.reduce(0) { $0 + $1.count }, minimum, arrival.response.head, sending)
        guard workers > 1 || gaps.count > 1 || machine.limit != nil else { return nil }
        return SegmentedFetch.Plan(
            workers: workers, minimum: minimum, length: length, validator: validator, gaps: gaps,
            lead: machine.offset..<(machine.bodyEnd ?? length), source: source, arrival: arrival,
            exchange: exchange)
    }

    private func workers(
        for bytes: Int, _ minimum: Int, _ head: ResponseHead, _ sending: Sending
    ) -> Int {
        // A `data` hook must get chunks in order.
        guard maySplit(sending), !sending.hasHook(\.data) else { return 1 }
        guard head.status == .partialContent || AcceptRanges(head.fields) == .bytes else { return 1 }
        return SegmentMachine<Void>.workers(options.segments?.count ?? 1, for: bytes, minimum: minimum)
    }

    /// Fills the file. Returns nil if the download starts over.
    mutating func fill(
        by plan: SegmentedFetch.Plan, _ part: DownloadPart, _ sending: inout Sending
    ) async throws -> Response? {
        let before = part.content.contents
        let fetch = SegmentedFetch(plan, part, options, original, sending)
        let outcome = await fetch.run()
        earlier += fetch.hops(before: outcome)
        // The hop of an incomplete response is among the earlier ones.
        if case .complete = outcome {} else { answered = nil }
        switch outcome {
        case .complete: return try await finish(plan.arrival.response, sending)
        case .failed(let error):
            // An error that cannot carry a hop leaves it to the metrics.
            if !(error is NetworkError) { sending.control?.untoldHop = earlier.popLast() }
            throw error
        case .overrun(let error):
            part.content.goBack(to: before)
            throw error
        case .useless: break
        }
        isAlone = true
        try leaveToAskAgain(plan.arrival.response, &sending)
        guard case .refuse(let refusal) = machine.changed() else { return nil }
        throw NetworkError(
            .invalidResponse, "\(refusal)", phase: .receive, requestMayHaveBeenSent: true,
            response: plan.arrival.response.head)
    }
}
