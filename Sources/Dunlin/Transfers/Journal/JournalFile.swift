internal import DunlinReactor
internal import Synchronization

/// The file of an entry that is ours: locked for as long as this is held, or until it is let go.
final class JournalFile: Sendable {
    private let file: Mutex<PartFile?>

    init(_ file: PartFile) {
        self.file = Mutex(file)
    }

    deinit {
        unlock()
    }

    /// The lock on the old one ends after the new one has its name.
    func replace(with new: PartFile) {
        // Closing may wait for a disk: not under the lock.
        let old = file.withLock { file in
            defer { file = new }
            return file
        }
        _ = consume old
    }

    /// From now on the entry is anybody's. Said outright: a child that is about to become another program has the file
    /// open until then, and closing it here would leave it locked.
    func unlock() {
        file.withLock { $0.take() }?.unlock()
    }
}
