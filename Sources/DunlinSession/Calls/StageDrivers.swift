internal import DunlinTransport

/// The drivers of one call, in the chain's order. It is empty as long as all goes well and no stage needs to see every
/// hop.
struct StageDrivers {
    let chain: Chain
    private var drivers: [(any StageDriver)?] = []
    /// Whether the drivers that see only failures and other statuses have been made, too.
    private var isComplete = false
    /// The index of the driver that has the call sent again.
    private var sender: Int?
    /// Why the call is sent again.
    private(set) var why: SendingReason?
    /// The index of the driver that answers the call or fails to; those behind it are not told.
    private var answerer: Int?

    init(_ chain: Chain, _ settings: RequestSettings?, for call: @autoclosure () -> LiveCall) {
        self.chain = chain
        guard chain.seesAll || settings != nil else { return }
        let call = call()
        drivers = chain.stages.map { $0.seesAll(of: call) ? $0.driver(for: call) : nil }
        if drivers.allSatisfy({ $0 == nil }) { drivers = [] }
    }

    /// Whether no driver has to be asked before a hop.
    var isEmpty: Bool { drivers.isEmpty }

    /// Whether no driver has to see a response with this status.
    func mayPass(_ status: HTTP.Status) -> Bool { drivers.isEmpty && status < 300 }

    /// What happens with a hop before anything is sent.
    enum Outgoing {
        case send(TransportRequest)
        case answer(TransportResponse)
    }

    /// The request to send for the call's request, or a driver's answer.
    mutating func sending(_ id: SendingID, of delegate: isolated TaskDelegate) async throws -> Outgoing {
        var request = delegate[id].request
        for index in drivers.indices {
            guard let driver = drivers[index] else { continue }
            answerer = index
            if driver.judgesWay(of: request) {
                let chosen = try delegate[id].asking.choice(for: request.head)
                delegate.change(id) { $0.chosen = chosen }
            }
            // Copied once, because only what a driver returns changes it.
            let call = delegate[id]
            if let answer = try await driver.answer(request, call) {
                delegate.take(answer.notes, id)
                return .answer(answer.response)
            }
            answerer = nil
            request = try await driver.sending(request, call)
        }
        for driver in drivers { driver?.goes(request) }
        return .send(request)
    }

    /// The response to deliver; nil if the call is to be sent again.
    mutating func judge(
        _ outcome: consuming Result<TransportResponse, any Error>, _ id: SendingID, of delegate: isolated TaskDelegate
    ) async throws -> TransportResponse? {
        var outcome = outcome
        makeOthers(for: delegate[id], after: outcome)
        let judges = drivers.indices.prefix(upTo: answerer ?? drivers.endIndex)
        let end = answerer.map { $0 + 1 } ?? drivers.endIndex
        answerer = nil
        for index in judges.reversed() {
            guard let driver = drivers[index] else { continue }
            switch await driver.judge(outcome, delegate[id]) {
            case .pass(let response, let notes):
                delegate.take(notes, id)
                outcome = .success(response)
            case .again(let again, let notes):
                delegate.take(notes, id)
                moveOn(again, after: index, id, of: delegate)
                return nil
            case .fail(let error, let notes):
                delegate.take(notes, id)
                var (failure, isOfResponse) = (error, false)
                if case .success(let response) = outcome {
                    (failure, isOfResponse) = (delegate[id].failing(error, on: response), true)
                }
                // The response is released before anything is sent again.
                outcome = .failure(failure)
                guard isOfResponse, failure.isDamageOfStore else { continue }
                guard let left = await undelivered(failure, index + 1..<end, id, of: delegate) else { return nil }
                outcome = .failure(left)
            }
        }
        return try outcome.get()
    }

    /// Handles a response that was not delivered to its end. Throws unless the call is to be sent again.
    mutating func undelivered(
        _ error: any Error, _ id: SendingID, of delegate: isolated TaskDelegate
    ) async throws {
        if let error = await undelivered(error, drivers.indices, id, of: delegate) { throw error }
    }

    /// Handles a response that these drivers had passed and one before them could not read. Returns nil if the call is
    /// to be sent again.
    private mutating func undelivered(
        _ error: any Error, _ asked: Range<Int>, _ id: SendingID, of delegate: isolated TaskDelegate
    ) async -> (any Error)? {
        for index in asked { if let notes = drivers[index]?.takeBack() { delegate.take(notes, id) } }
        var error = error
        for index in asked.reversed() {
            switch await drivers[index]?.mend(error, delegate[id]) {
            case .again(let again, let notes):
                delegate.take(notes, id)
                moveOn(again, after: index, id, of: delegate)
                return nil
            case .fail(let other, let notes):
                delegate.take(notes, id)
                error = other
            case .pass, nil: continue
            }
        }
        return error
    }

    private mutating func makeOthers(
        for call: @autoclosure () -> LiveCall, after outcome: Result<TransportResponse, any Error>
    ) {
        if isComplete { return }
        if case .success(let response) = outcome, response.head.status < 300 { return }
        isComplete = true
        let call = call()
        if drivers.isEmpty { drivers = Array(repeating: nil, count: chain.stages.count) }
        for (index, stage) in chain.stages.enumerated() where drivers[index] == nil {
            drivers[index] = stage.driver(for: call)
        }
    }

    /// Returns when the call may be sent again.
    mutating func rest(_ id: SendingID, of delegate: isolated TaskDelegate) async throws {
        guard let sender else { return }
        self.sender = nil
        if let notes = try await drivers[sender]?.rest(delegate[id]) { delegate.take(notes, id) }
    }

    private mutating func moveOn(
        _ again: StageAction.Again, after index: Int, _ id: SendingID, of delegate: isolated TaskDelegate
    ) {
        sender = index
        let inner = drivers[(index + 1)...].compactMap(\.self)
        switch again {
        case .send(let why): self.why = why
        case .sendAnother(let why):
            self.why = why
            delegate.change(id) { $0.chosen = nil }
            for driver in inner { driver.movedOn() }
        case .startOver(let why):
            self.why = why
            delegate.change(id) { call in
                call.chosen = nil
                call.sentRequests.beginAttempt()
            }
            for driver in inner { driver.startOver() }
        }
    }
}

extension StageDriver {
    /// The driver's action; an error that it throws becomes a failure.
    fileprivate func judge(_ outcome: Result<TransportResponse, any Error>, _ call: LiveCall) async -> StageAction {
        do {
            switch outcome {
            case .success(let response): return try await received(response, call)
            case .failure(let error): return try await failed(error, call)
            }
        } catch {
            return .fail(error)
        }
    }

    fileprivate func mend(_ error: any Error, _ call: LiveCall) async -> StageAction {
        do {
            return try await undelivered(error, call)
        } catch {
            return .fail(error)
        }
    }
}

extension TaskDelegate {
    /// Applies the changes of a stage's action to the call.
    fileprivate func take(_ notes: StageNotes, _ id: SendingID) {
        change(id) { call in
            if let request = notes.request { call.request = request }
            if let callHistory = notes.callHistory { call.callHistory = callHistory }
            if let hasMadeBody = notes.hasMadeBody { call.hasMadeBody = hasMadeBody }
            if let chosen = notes.chosen { call.chosen = chosen }
        }
    }
}
