import DunlinSemantics
import DunlinTypes
import Testing

/// A store in memory and a driver for the machine, with a scripted origin and a clock that only scripts move.
struct PlayedCache {
    struct Stored {
        var entry: CacheEntry
        /// The bytes of `entry.body.range`.
        var bytes: [UInt8]
    }

    static let origin = HTTP.Origin(scheme: .https, host: "a.test")
    /// Any function will do here, as long as it is none of the identity.
    static let rules = CacheRules { _, bytes in Bytes(bytes.reversed() + [UInt8(ascii: "#")]) }

    var stored: [Stored] = []
    var now: Int64 = 1_700_000_000
    var rules = Self.rules

    mutating func play(_ step: CacheStep) -> CacheSight {
        let head = RequestHead(
            method: step.method, origin: Self.origin, target: step.target, fields: written(step.request))
        let request = CacheRequest(head, mode: step.mode)
        let indices = stored.indices.filter { stored[$0].entry.key == request.key }
        var play = Play(
            machine: CacheMachine(request, candidates: indices.map { stored[$0].entry }, rules: rules),
            indices: indices,
            step: step)
        var sight = CacheSight(source: .unavailable)
        switch play.machine.begin(at: now) {
        case .serve(let serving):
            sight = served(serving, &play, .cache)
            sight.note = serving.status
            if let revalidation = serving.revalidation {
                let behind = ask(revalidation, &play)
                sight.sent += behind.sent
            }
        case .send(let sending): sight = ask(sending, &play)
        case .unavailable: break
        }
        now += step.delay + step.pause
        return sight
    }

    private struct Play {
        var machine: CacheMachine
        let indices: [Int]
        let step: CacheStep
    }

    /// `@-30` is a date, of half a minute ago.
    private func written(_ fields: Fields) -> Fields {
        var written = Fields()
        for (name, value) in fields {
            let offset = value.hasPrefix("@") ? Int64(value.dropFirst()) : nil
            written.append(name: name, value: offset.map { HTTPDate(seconds: now + $0).description } ?? value)
        }
        return written
    }
}

// MARK: - The origin

extension PlayedCache {
    private mutating func ask(_ sending: CacheSending, _ play: inout Play) -> CacheSight {
        let step = play.step
        guard !step.isDisconnected else {
            guard case .stored(let serving)? = play.machine.failed(at: now)?.delivery else {
                return CacheSight(source: .failure, sent: [sending.fields])
            }
            var sight = served(serving, &play, .staleForError)
            sight.sent = [sending.fields]
            return sight
        }
        let isConfirmed =
            step.confirms && (sending.fields.contains("if-none-match") || sending.fields.contains("if-modified-since"))
        let status: HTTP.Status = isConfirmed ? .notModified : step.status
        let body = isConfirmed || step.method == .head ? [] : Array(step.body.utf8)
        let head = ResponseHead(status: status, fields: written(step.response))
        let update = play.machine.answered(by: head, sentAt: now, receivedAt: now + step.delay)
        var sight = deliver(update, &play, head, body)
        sight.sent.insert(sending.fields, at: 0)
        sight.note = update.status
        if case .again(let sending) = update.delivery {
            let next = ask(sending, &play)
            sight = CacheSight(
                source: next.source, status: next.status, fields: next.fields, body: next.body,
                sent: sight.sent + next.sent)
        } else {
            apply(update.changes, play, body)
        }
        return sight
    }

    private func served(_ serving: CacheServing, _ play: inout Play, _ source: CacheSight.Source) -> CacheSight {
        let stored = stored[play.indices[serving.index]]
        let bytes: ArraySlice<UInt8>
        switch serving.form {
        case .whole: bytes = stored.bytes[...]
        case .head, .notModified: bytes = []
        case .range(let range, _):
            let start = stored.entry.body.range.lowerBound
            bytes = stored.bytes[range.lowerBound - start..<range.upperBound - start]
        }
        return CacheSight(
            source: source, status: serving.head.status, fields: serving.head.fields,
            body: String(decoding: bytes, as: UTF8.self), isStale: serving.isStale)
    }

    private func deliver(
        _ update: CacheUpdate, _ play: inout Play, _ head: ResponseHead, _ body: [UInt8]
    ) -> CacheSight {
        switch update.delivery {
        case .network, .again:
            return CacheSight(
                source: .network, status: head.status, fields: head.fields, body: String(decoding: body, as: UTF8.self))
        case .stored(let serving):
            return served(serving, &play, head.status == .notModified ? .confirmed : .staleForError)
        case .joined(let index, let head):
            let bytes = stored[play.indices[index]].bytes + body
            return CacheSight(
                source: .joined, status: head.status, fields: head.fields, body: String(decoding: bytes, as: UTF8.self))
        }
    }
}

// MARK: - The store

extension PlayedCache {
    private mutating func apply(_ changes: [CacheUpdate.Change], _ play: Play, _ body: [UInt8]) {
        var all: [Stored?] = stored
        for change in changes {
            switch change {
            case .store(let draft, let replaced):
                for index in replaced { all[play.indices[index]] = nil }
                let entry = draft.ended(count: body.count, isComplete: !play.step.isCut)
                if let entry { all.append(Stored(entry: entry, bytes: body)) }
            case .extend(let index, let draft):
                let before = all[play.indices[index]]
                all[play.indices[index]] = draft.ended(count: body.count, isComplete: !play.step.isCut).map { entry in
                    Stored(entry: entry, bytes: Self.joined(before, entry, draft.start, body))
                }
            case .update(let index, let entry): all[play.indices[index]]?.entry = entry
            case .remove(let indices): for index in indices { all[play.indices[index]] = nil }
            case .invalidate(let keys): all = all.map { $0.flatMap { keys.contains($0.entry.key) ? nil : $0 } }
            }
        }
        stored = all.compactMap { $0 }
    }

    private static func joined(_ before: Stored?, _ entry: CacheEntry, _ start: Int, _ body: [UInt8]) -> [UInt8] {
        let range = entry.body.range
        var bytes = [UInt8](repeating: UInt8(ascii: "?"), count: range.count)
        for (place, run) in [(before?.entry.body.range.lowerBound ?? 0, before?.bytes ?? []), (start, body)] {
            for (offset, byte) in run.enumerated() where range.contains(place + offset) {
                bytes[place + offset - range.lowerBound] = byte
            }
        }
        return bytes
    }
}
