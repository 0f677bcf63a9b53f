/// A table of things that the loop knows by number, with generations so that an outdated number finds nothing.
struct Slots {
    /// What a slot holds.
    enum Entry {
        case free
        case channel(Channel)
        case timer(any Timed)
    }

    /// No slot has this token.
    static let none = UInt64.max
    /// The wake descriptor's token.
    static let wake = UInt64.max - 1

    private var entries: [Entry] = []
    private var generations: [UInt32] = []
    private var free: [Int] = []

    var count: Int { entries.count - free.count }
    var all: [Entry] { entries }

    mutating func insert(_ entry: Entry) -> UInt64 {
        if let index = free.popLast() {
            entries[index] = entry
            return token(index)
        }
        entries.append(entry)
        generations.append(0)
        return token(entries.count - 1)
    }

    subscript(_ token: UInt64) -> Entry {
        guard let index = index(of: token) else { return .free }
        return entries[index]
    }

    /// What is in a slot now, and its token.
    func current(_ index: Int) -> (Entry, UInt64) {
        (entries[index], token(index))
    }

    /// Empties the slot, and returns what was in it; nothing if the token was outdated.
    mutating func remove(_ token: UInt64) -> Entry {
        guard let index = index(of: token) else { return .free }
        let entry = entries[index]
        entries[index] = .free
        // The generation never gets into its upper half, where the reserved tokens are.
        generations[index] = (generations[index] + 1) & 0x7FFF_FFFF
        free.append(index)
        return entry
    }

    func index(of token: UInt64) -> Int? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < entries.count, generations[index] == UInt32(token >> 32) else { return nil }
        return index
    }

    private func token(_ index: Int) -> UInt64 {
        UInt64(generations[index]) << 32 | UInt64(index)
    }
}
