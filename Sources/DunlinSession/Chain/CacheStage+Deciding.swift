internal import DunlinCache
internal import DunlinSemantics
internal import DunlinTransport

/// What `hooks.storing` says of the changes that an answer makes to what is stored. It is asked about everything that
/// is stored with new fields: a new response, a part, and a stored response that the server has confirmed.
extension CacheStage {
    /// The changes that remain. `asker` is who would ask again, as it was before the hook was asked: meanwhile the jar
    /// may become another user's.
    func decided(
        _ update: CacheUpdate, _ head: ResponseHead, _ receivedAt: Int64, _ asker: CacheAsker?, _ look: inout Look,
        _ sending: Sending
    ) async throws -> [CacheUpdate.Change] {
        // An interceptor around the exchange replaced the body, which the fields then do not describe.
        var changes = sending.hasMadeBody ? update.changes.map(\.withoutStoring) : update.changes
        guard sending.hasHook(\.storing) else { return changes }
        if changes.contains(where: \.isStoring) {
            changes = try await stored(changes, head, receivedAt, asker, &look, sending)
        }
        for index in changes.indices {
            // Doubt changes no fields.
            guard case .update(let candidate, let entry) = changes[index], !entry.isDoubtful else { continue }
            changes[index] = try await confirmed(candidate, entry, &look, sending)
        }
        return changes
    }

    /// The changes by a response that is to be stored.
    private func stored(
        _ changes: [CacheUpdate.Change], _ head: ResponseHead, _ receivedAt: Int64, _ asker: CacheAsker?,
        _ look: inout Look, _ sending: Sending
    ) async throws -> [CacheUpdate.Change] {
        switch try await decision(head, sending) {
        case nil, .store: return changes
        case .skip: return changes.map(\.withoutStoring)
        case .storeWith(let fields):
            var given = head
            given.fields = fields
            var machine = look.machine
            let changed = machine.answered(
                by: given, to: look.sentFields(sending), for: asker, sentAt: look.sentAt, receivedAt: receivedAt
            ).changes
            return changed.contains(where: \.isStoring) ? changed : changes.map(\.withoutStoring) + changed
        }
    }

    /// The change to a stored response that the server has confirmed, perhaps with new fields.
    private func confirmed(
        _ candidate: Int, _ entry: CacheEntry, _ look: inout Look, _ sending: Sending
    ) async throws -> CacheUpdate.Change {
        switch try await decision(ResponseHead(status: entry.status, fields: entry.fields), sending) {
        case nil, .store: return .update(candidate, entry)
        case .skip: return .remove([candidate])
        case .storeWith(let fields):
            let changed = look.machine.changed(entry, to: fields, sentWith: look.sentFields(sending))
            return changed.map { .update(candidate, $0) } ?? .remove([candidate])
        }
    }

    private func decision(_ head: ResponseHead, _ sending: Sending) async throws -> HTTPSession.CacheDecision? {
        let snapshot = sending.snapshot
        return try await sending.ask(\.storing) { await $0(snapshot, head) }
    }
}

extension CacheUpdate.Change {
    fileprivate var isStoring: Bool {
        switch self {
        case .store, .extend: true
        case .update, .remove, .invalidate: false
        }
    }

    /// What remains of the change if the body is not stored: a newer response still replaces the stored one. A partial
    /// entry that would have grown stays as it is.
    fileprivate var withoutStoring: CacheUpdate.Change {
        switch self {
        case .store(_, let replaced): .remove(replaced)
        case .extend: .remove([])
        case .update, .remove, .invalidate: self
        }
    }
}
