import DunlinSemantics
import DunlinTypes

/// The entries of one URL, the clock, and what must hold whenever the machine is asked.
struct FuzzStore {
    private static let origin = HTTP.Origin(scheme: .https, host: "a.test")
    private static let rules = CacheRules { _, bytes in bytes.isEmpty ? nil : Bytes(bytes.reversed()) }

    private var entries: [CacheEntry] = []
    private var now: Int64 = 1_700_000_000

    mutating func violation(of exchange: FuzzCache.Exchange) -> String? {
        let head = RequestHead(
            method: HTTP.Method(exchange.method), origin: Self.origin, target: "/a", fields: exchange.request)
        let request = CacheRequest(head, mode: exchange.mode)
        var machine = CacheMachine(request, candidates: entries, rules: Self.rules)
        var again = machine
        let action = machine.begin(at: now)
        if "\(action)" != "\(again.begin(at: now))" { return "two answers to one question" }
        switch action {
        case .serve(let serving):
            if let violation = violation(of: serving, for: request) { return violation }
            if serving.revalidation == nil { break }
            fallthrough
        case .send:
            if let violation = answer(exchange, &machine, request) { return violation }
        case .unavailable: break
        }
        now = now.addingClamped(exchange.pause)
        return nil
    }

    // MARK: - The network's answer

    private mutating func answer(
        _ exchange: FuzzCache.Exchange, _ machine: inout CacheMachine, _ request: CacheRequest
    ) -> String? {
        if case .stored(let serving)? = machine.failed(at: now)?.delivery {
            let entry = entries[serving.index]
            if entry.directives.mustRevalidate || entry.directives.isNoCache { return "stale where that is forbidden" }
        }
        let head = ResponseHead(status: HTTP.Status(Int(exchange.status)), fields: exchange.response)
        var rounds = 0
        while true {
            let received = now.addingClamped(exchange.delay)
            let update = machine.answered(by: head, sentAt: now, receivedAt: received)
            if let problem = Self.problem(of: update.status) { return problem }
            rounds += 1
            if case .again = update.delivery {
                if rounds > 2 { return "asks for ever" }
                continue
            }
            if case .stored(let serving) = update.delivery, let violation = Self.violation(of: serving.head) {
                return violation
            }
            return apply(update.changes, exchange, request)
        }
    }

    private static func problem(of status: CacheStatus) -> String? {
        let member = status.member(named: "Dunlin")
        return member.utf8.allSatisfy { 0x20...0x7E ~= $0 } ? nil : "a status that is no field"
    }

    private mutating func apply(
        _ changes: [CacheUpdate.Change], _ exchange: FuzzCache.Exchange, _ request: CacheRequest
    ) -> String? {
        var all: [CacheEntry?] = entries
        for change in changes {
            switch change {
            case .store(let draft, let replaced):
                for index in replaced { all[index] = nil }
                let entry = draft.ended(count: exchange.count, isComplete: exchange.count % 3 != 0)
                if let entry, let violation = violation(of: entry, from: exchange, request) { return violation }
                all.append(entry)
            case .extend(let index, let draft):
                all[index] = draft.ended(count: exchange.count, isComplete: exchange.count % 3 != 0)
            case .update(let index, let entry): all[index] = entry
            case .remove(let indices): for index in indices { all[index] = nil }
            case .invalidate(let keys): all = all.map { $0.flatMap { keys.contains($0.key) ? nil : $0 } }
            }
        }
        entries = all.compactMap { $0 }
        for entry in entries {
            if case .part(let range, let complete) = entry.body {
                if range.isEmpty || range.upperBound > complete ?? .max { return "a part of nothing" }
                if range.lowerBound == 0, range.upperBound == complete { return "a part that is the whole" }
            }
        }
        return nil
    }

    // MARK: - What must hold

    private func violation(
        of entry: CacheEntry, from exchange: FuzzCache.Exchange, _ request: CacheRequest
    ) -> String? {
        if exchange.mode == .off || !["GET", "POST"].contains(exchange.method) { return "stored without being asked" }
        let plain = Self.plain(exchange.response)
        if plain.contains("no-store"), !plain.contains("must-understand") { return "stored against no-store" }
        if Self.plain(exchange.request).contains("no-store") { return "stored against the request's no-store" }
        if [304, 206].contains(entry.status.code) || entry.status < 200 { return "a status that is never stored" }
        if entry.fields.contains("connection") || entry.fields.contains("proxy-authenticate") { return "a hop's field" }
        if !entry.selecting.matches(request.head.fields, Self.rules) { return "it does not fit its own request" }
        let copy = CacheEntry(
            key: entry.key, method: entry.method, selecting: entry.selecting, owner: entry.owner,
            status: entry.status, fields: entry.fields, sentAt: entry.sentAt, receivedAt: entry.receivedAt,
            body: entry.body,
            isDoubtful: entry.isDoubtful, rules: Self.rules)
        return copy.freshness == entry.freshness && copy.directives == entry.directives ? nil : "another when read back"
    }

    private func violation(of serving: CacheServing, for request: CacheRequest) -> String? {
        let entry = entries[serving.index]
        if let violation = Self.violation(of: serving.head) { return violation }
        if case .range(let range, _) = serving.form, !entry.body.range.contains(range) {
            return "bytes that are not there"
        }
        if serving.form == .whole, !entry.body.isWhole { return "a part as the whole" }
        if request.mode == .off || request.mode == .reloading { return "served though not asked" }
        if request.mode == .preferringStored || request.mode == .storedOnly { return nil }
        if entry.directives.isNoCache || entry.isDoubtful { return "served without asking" }
        let asked = Self.plain(request.head.fields)
        if asked.contains("no-cache") || asked.contains("no-store") { return "served against the request" }
        if serving.remaining <= 0 {
            let isAllowed =
                entry.directives.staleWhileRevalidate != nil
                || request.head.fields.values(of: "cache-control").contains { $0.lowercased().contains("max-stale") }
            return isAllowed && !entry.directives.mustRevalidate ? nil : "stale"
        }
        let ages = Self.plain(entry.fields).filter { $0.hasPrefix("max-age=") }.compactMap { Int64($0.dropFirst(8)) }
        return ages.contains { now.subtractingClamped(entry.receivedAt) >= $0 } ? "fresh beyond its max-age" : nil
    }

    private static func violation(of head: ResponseHead) -> String? {
        guard let age = head.fields.values(of: "age").first, head.fields.values(of: "age").count == 1,
            let seconds = Int64(age), seconds >= 0
        else { return "an age that is none" }
        return nil
    }

    /// The directives of a Cache-Control that has nothing difficult in it; none of any other.
    private static func plain(_ fields: Fields) -> [String] {
        let value = fields.values(of: "cache-control").joined(separator: ",").lowercased()
        guard value.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 }) else { return [] }
        return value.split(separator: ",").map { String($0) }
    }
}

extension Range<Int> {
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
