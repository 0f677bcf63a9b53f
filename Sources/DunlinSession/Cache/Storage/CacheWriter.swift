internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// Takes the bytes of one body, and makes the response findable when there are as many as its entry says.
///
/// One caller at a time has it. The state is out of its lock while a disk is written to.
final class CacheWriter: ResponseWriter {
    /// A response whose body is whole.
    struct Finished: Sendable {
        let entry: CacheEntry
        let id: UInt64
        /// The body, unless it has a file of its own.
        let bytes: Bytes?
        let file: PartFile?
        let disk: DiskLevel?
        let replaced: Set<UInt64>
        let removals: UInt64
    }

    private struct State {
        var gathering: BodyGathering
        var file: PartFile?
    }

    private let store: CacheStore
    private let disk: DiskLevel?
    private let key: CacheKey
    private let removals: UInt64
    /// Nil once nothing will be stored, and while a disk is written to.
    private let state: Mutex<State?>

    init(_ store: CacheStore, _ disk: DiskLevel?, _ key: CacheKey, removals: UInt64, inline: Int, limit: Int) {
        (self.store, self.disk, self.key, self.removals) = (store, disk, key, removals)
        let id = UInt64.random(in: 1 ... .max)
        state = Mutex(State(gathering: BodyGathering(id: id, inline: inline, limit: limit)))
    }

    deinit {
        // A thread that must not wait for a disk may be the last to let go.
        if let file = state.withLock({ $0.take()?.file }), let disk { disk.threads.start { disk.discard(file) } }
    }

    func write(_ bytes: Bytes) async {
        await step { $0.add(bytes) }
    }

    /// Writes the bytes of another body; false if nothing will be stored.
    func copy(_ body: any StoredBody) async -> Bool {
        var offset = 0
        while offset < body.count {
            do {
                let bytes = try await body.read(from: offset, upTo: body.count - offset)
                await write(bytes)
                offset += bytes.count
            } catch {
                await abandon()
                return false
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

    /// Nil if it could not be written; the file is gone then.
    private func write(_ bytes: [UInt8], at offset: Int, into file: PartFile?) async -> PartFile? {
        guard let disk else { return nil }
        return await disk.threads.run {
            var target = file
            do throws(Errno) {
                let open: PartFile
                if let file { open = file } else { open = try disk.newFile() }
                target = open
                try disk.folder.write(bytes, at: offset, into: open)
                return open
            } catch {
                disk.tell(.writing(error))
                if let target { disk.discard(target) }
                return nil
            }
        }
    }

    func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async {
        await step { $0.end() }
        guard let state = state.withLock({ $0.take() }) else { return }
        guard entry.key == key, entry.body.range.count == state.gathering.count else {
            return await discard(state.file)
        }
        let finished = Finished(
            entry: entry, id: state.gathering.id, bytes: state.gathering.inlineBytes, file: state.file, disk: disk,
            replaced: Set(replaced.map(\.id)), removals: removals)
        await store.add(finished)
        // If it was stored, it has another name by now, and nothing is removed.
        await discard(state.file)
    }

    func abandon() async {
        await discard(state.withLock { $0.take()?.file })
    }

    private func discard(_ file: PartFile?) async {
        guard let file, let disk else { return }
        await disk.threads.run { disk.discard(file) }
    }
}
