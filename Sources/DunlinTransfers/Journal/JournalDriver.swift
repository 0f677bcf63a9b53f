internal import DunlinReactor

/// Drives one transfer of a journal: does what its machine says, and saves its entry before each step.
struct JournalDriver: Sendable {
    let transfer: TransferJournal.Transfer

    private typealias Result = Swift.Result<TransferJournal.Outcome, any Error>

    private var journal: TransferJournal { transfer.journal }

    func run() async {
        await Enclosure.enter(.transfer(of: ObjectIdentifier(journal)), of: nil) {
            await Enclosure.enter(.transfer(of: ObjectIdentifier(transfer)), of: nil) { await drive() }
        }
    }

    private func drive() async {
        var result: Result = .failure(Self.cancelled)
        var step = transfer.next()
        while true {
            switch step {
            case .send(let entry):
                do {
                    try await write(entry)
                    let isRepeatable: Bool
                    (result, isRepeatable) = try await attempt(entry)
                    step = transfer.ended(Self.ending(of: result, isRepeatable: isRepeatable))
                } catch {
                    result = .failure(error)
                    step = transfer.unwritten()
                }
            case .wait(let entry, let delay):
                await pause(entry, delay)
                result = Self.left(after: result)
                step = transfer.next()
            case .finished(let file):
                result = .success(TransferJournal.Outcome(file: file.downloaded(by: transfer.entry), response: nil))
                return await forget(result, withLeftovers: true)
            case .forget:
                return await forget(reported(result), withLeftovers: transfer.wasCancelled)
            case .lacksURL:
                return end(.failure(TransferJournal.Transfer.withoutURL), isForgotten: false)
            case .lacksUser:
                return end(.failure(transfer.withoutUser), isForgotten: false)
            case .leave:
                return end(reported(result), isForgotten: false)
            }
        }
    }

    private static var cancelled: NetworkError { NetworkError(.cancelled, "the transfer was cancelled") }

    /// The result if the transfer is left to others after an attempt. What the error says of that attempt stays.
    private static func left(after result: Result) -> Result {
        let left = TransferJournal.Transfer.left
        guard case .failure(let error) = result, var failure = error as? NetworkError else { return .failure(left) }
        (failure.code, failure.reason, failure.exceeded, failure.limit) = (left.code, left.reason, nil, nil)
        return .failure(failure)
    }

    /// The result to report. If somebody stopped the transfer, it is the journal's own error, with what is known of the
    /// request.
    private func reported(_ result: Result) -> Result {
        guard case .failure(let error) = result, JournalMachine.Ending(error) == .stopped else { return result }
        var stopped = error as? NetworkError ?? NetworkError(.cancelled, "", requestMayHaveBeenSent: true)
        let isShutDown = stopped.code == .sessionShutDown || journal.session.isShutDown
        let what = isShutDown ? "the session was shut down" : "the transfer's request was cancelled"
        stopped.code = .cancelled
        // The part file is the journal's, or gone.
        stopped.leftover = nil
        stopped.reason =
            if transfer.wasCancelled { Self.cancelled.reason } else if transfer.wasClosed, !isShutDown {
                TransferJournal.Transfer.left.reason
            } else { "\(what); the transfer stays in the journal" }
        return .failure(stopped)
    }

    private static func ending(of result: Result, isRepeatable: Bool) -> JournalMachine.Ending {
        switch result {
        case .success: .done
        case .failure(let error): JournalMachine.Ending(error, isRepeatable: isRepeatable)
        }
    }

    private func write(_ entry: JournalEntry) async throws {
        let (storage, bytes) = (journal.storage, try entry.bytes())
        try await HTTPSession.FileFailure.onDisk { [transfer] () throws(HTTPSession.FileFailure) in
            transfer.hold(try storage.rewrite(entry.id, bytes))
        }
    }

    /// Saves the entry, then waits. If it cannot be saved, it still holds in this process.
    private func pause(_ entry: JournalEntry, _ delay: Duration) async {
        do {
            try await write(entry)
        } catch {
            journal.note(HTTPSession.JournalIssue(path: journal.folder, error: error))
        }
        let loop = journal.session.core.loop
        let deadline = loop.now().advanced(by: delay.clampedNanoseconds)
        _ = await ValueWaiter<Void>(on: loop).wait(until: deadline, cancellation: transfer.cancellation)
    }

    /// Reports the result, then forgets the entry. If the process ends in between, the next one reports it again.
    private func forget(_ result: Result, withLeftovers: Bool) async {
        await journal.ended?(transfer, result)
        let (storage, id) = (journal.storage, transfer.id)
        if withLeftovers, let leftover = JournalLeftover(transfer.entry, journal.secretFields) {
            await DiskThreads.shared.run { leftover.remove() }
        }
        do {
            try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in try storage.forget(id) }
        } catch {
            journal.note(HTTPSession.JournalIssue(path: error.path, error: error))
        }
        end(result, isForgotten: true)
    }

    private func end(_ result: Result, isForgotten: Bool) {
        transfer.unlock()
        // Whoever is told that a transfer stays may ask for it again at once.
        if !isForgotten { journal.over(transfer, isForgotten: false) }
        transfer.settlement.settle(result)
        if isForgotten { journal.over(transfer, isForgotten: true) }
    }
}

// MARK: - Attempts

extension JournalDriver {
    /// The result, and whether everything that was sent may be sent again.
    private typealias Attempted<Success> = (result: Swift.Result<Success, any Error>, isRepeatable: Bool)

    /// Makes an attempt. Throws if the entry cannot record that a file is about to get its name.
    private func attempt(_ entry: JournalEntry) async throws -> Attempted<TransferJournal.Outcome> {
        guard let arguments = transfer.arguments else { return (.failure(TransferJournal.Transfer.left), true) }
        do {
            switch entry.work {
            case .download(let download): return try await self.download(download, entry, arguments)
            case .upload(let upload):
                let task = try journal.session.task(
                    arguments.target, method: HTTP.Method(entry.request.method), query: arguments.query,
                    body: upload.body,
                    options: arguments.options, as: .bytes)
                let (result, isRepeatable) = await outcome(of: task)
                return (result.map { TransferJournal.Outcome(file: nil, response: $0) }, isRepeatable)
            }
        } catch let unwritten as Unwritten {
            throw unwritten.failure
        } catch {
            return (.failure(error), true)
        }
    }

    private struct Unwritten: Error {
        let failure: any Error
    }

    private func download(
        _ download: JournalEntry.Download, _ entry: JournalEntry, _ arguments: TransferJournal.Transfer.Arguments
    ) async throws -> Attempted<TransferJournal.Outcome> {
        var options = arguments.transfer ?? download.options
        options.isDurable = true
        options.resuming = .ifValidatorMatches
        options.willPublish = { path, status in
            do {
                try await write(transfer.publish(JournalEntry.NamedFile(path, status)))
            } catch {
                throw Unwritten(failure: error)
            }
        }
        let (result, isRepeatable) = await outcome(of: try await task(download, entry, arguments, options))
        if case .failure(let unwritten as Unwritten) = result { throw unwritten }
        let outcome = result.map { TransferJournal.Outcome(file: $0.value, response: $0.with(value: Bytes.empty)) }
        return (outcome, isRepeatable)
    }

    /// Creates the task. It continues by itself from what lies beside the destination, unless that came from another
    /// URL.
    private func task(
        _ download: JournalEntry.Download, _ entry: JournalEntry, _ arguments: TransferJournal.Transfer.Arguments,
        _ options: HTTPSession.DownloadOptions
    ) async throws -> HTTPSession.RequestTask<HTTPSession.DownloadedFile> {
        let session = journal.session
        if !entry.request.formerURLs.isEmpty, let leftover = JournalLeftover(entry, journal.secretFields),
            let data = await DiskThreads.shared.run({ leftover.elsewhere(than: arguments.url ?? entry.request.url) })
        {
            var options = options
            options.startsOverIfDamaged = true
            return try session.downloadTask(
                resumeData: data, from: arguments.target, options: arguments.options, to: download.destination,
                transfer: options)
        }
        return try session.downloadTask(
            arguments.target, query: arguments.query, options: arguments.options, to: download.destination,
            transfer: options)
    }

    private func outcome<Value>(
        of task: HTTPSession.RequestTask<Value>
    ) async -> Attempted<HTTPSession.Response<Value>> {
        transfer.sends(task.delegate)
        let result = await task.result
        transfer.sends(nil)
        return (result, task.delegate.isRepeatable)
    }
}

extension JournalEntry.Upload {
    var body: RequestBody { .file(path, contentType: contentType) }
}

extension JournalEntry.NamedFile {
    /// The file that an earlier process completed. Its digest was checked before it got its name.
    fileprivate func downloaded(by entry: JournalEntry) -> HTTPSession.DownloadedFile {
        var digest: ContentDigest?
        if case .download(let download) = entry.work { digest = download.contentDigest }
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) }
        return HTTPSession.DownloadedFile(
            path: path, byteCount: length, digest: digest, suggestedName: name ?? path)
    }
}
