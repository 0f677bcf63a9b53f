internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

/// Stores the bytes of one body, and makes the response findable when it has the length its entry states.
///
/// One caller at a time uses it. The state is taken out of its lock while a disk is written to.
final class CacheWriter: ResponseWriter {
    /// A response with a whole body.
    struct Finished: Sendable {
        let entry: CacheEntry
        let id: UInt64
        /// The body, unless it has a file of its own.
        let bytes: Bytes?
        let file: PartFile?
        /// The bytes still to be written into that file.
        let last: BodyGathering.Action
        let disk: DiskLevel?
        let replaced: Set<UInt64>
        let removals: UInt64

        /// The bytes of memory that it uses while it waits to be written.
        var cost: Int {
            var rest = 0
            if case .write(let bytes, _) = last { rest = bytes.count }
            return (bytes?.count ?? 0) + rest + entry.held + 1024
        }
    }

    private struct State {
        var gathering: BodyGathering
        var file: PartFile?
    }

    private let store: CacheStore
    private let disk: DiskLevel?
    private let key: CacheKey
    private let removals: UInt64
    private let wait: StoreWait?
    /// The state; nil when nothing more will be stored, and while a disk is written to.
    private let state: Mutex<State?>

    init(
        _ store: CacheStore, _ disk: DiskLevel?, _ key: CacheKey, id: UInt64, removals: UInt64, inline: Int,
        limit: Int, within wait: StoreWait?
    ) {
        (self.store, self.disk, self.key, self.removals, self.wait) = (store, disk, key, removals, wait)
        state = Mutex(State(gathering: BodyGathering(id: id, inline: inline, limit: limit)))
    }

    deinit {
        // The last reference may end on a thread that must not wait for a disk.
        if let file = state.withLock({ $0.take()?.file }), let disk { disk.threads.start { disk.discard(file) } }
    }

    func write(_ bytes: Bytes) async {
        await step { $0.add(bytes) }
    }

    /// Copies another body; returns false if nothing will be stored. Throws if it cannot be read.
    func copy(_ body: any StoredBody) async throws(CacheDamage) -> Bool {
        var offset = 0
        while offset < body.count, state.withLock({ $0 != nil }) {
            do throws(CacheDamage) {
                let bytes = try await body.read(from: offset, upTo: body.count - offset, within: wait)
                await write(bytes)
                offset += bytes.count
            } catch {
                await discard()
                throw error
            }
        }
        return state.withLock { $0 != nil }
    }

    private func step(_ take: (inout BodyGathering) -> BodyGathering.Action) async {
        guard var state = state.withLock({ $0.take() }) else { return }
        switch take(&state.gathering) {
        case .none: break
        case .giveUp: return await discard(state.file)
        case .write(let bytes, let offset):
            guard let file = await write(bytes, at: offset, into: state.file) else { return }
            state.file = file
        }
        let kept = state
        self.state.withLock { $0 = kept }
    }

    /// Writes into a file; returns nil if that failed, and the file is gone then.
    private func write(_ bytes: [UInt8], at offset: Int, into file: PartFile?) async -> PartFile? {
        guard let disk else { return nil }
        let written = await disk.run(within: wait) { written in
            if let written { disk.discard(written) }
        } _: {
            disk.write(bytes, at: offset, into: file)
        }
        if let written { return written }
        // The file may not have been begun.
        if let file { await discard(file) }
        return nil
    }

    func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async -> Bool {
        guard let finished = await finished(entry, replaced) else { return false }
        return await store.add(finished, within: wait)
    }

    func hand(
        as entry: CacheEntry, replacing replaced: [StoredResponse], whenStored: @escaping @Sendable (Bool) -> Void
    ) async -> HandedResponse {
        guard let finished = await finished(entry, replaced) else { return .refused }
        return await store.hand(finished, within: wait, whenStored)
    }

    /// Nil if it is not what was announced.
    private func finished(_ entry: CacheEntry, _ replaced: [StoredResponse]) async -> Finished? {
        guard var state = state.withLock({ $0.take() }) else { return nil }
        let last = state.gathering.end()
        guard entry.key == key, entry.body.range.count == state.gathering.count else {
            await discard(state.file)
            return nil
        }
        return Finished(
            entry: entry, id: state.gathering.id, bytes: state.gathering.inlineBytes, file: state.file, last: last,
            disk: disk, replaced: Set(replaced.map(\.id)), removals: removals)
    }

    func discard() async {
        await discard(state.withLock { $0.take()?.file })
    }

    private func discard(_ file: PartFile?) async {
        guard let file, let disk else { return }
        _ = await disk.run(within: wait, always: true) { disk.discard(file) }
    }
}
