#if Metrics
    /// Handlers by their keys, with room for so many.
    ///
    /// If there is no room for another, one is discarded that was not used again since the hand passed it last (the
    /// clock algorithm). One with a level, such as the number of requests under way, is never discarded, because it
    /// would start again at 0.
    ///
    /// A discarded handler is *leaving* until it is destroyed: a factory would give the same handler to whoever asks
    /// for these labels meanwhile, and it would be destroyed under them.
    struct HandlerCache<Key: Hashable & Sendable, Handler: Sendable>: Sendable {
        enum Found {
            case handler(Handler)
            case missing
            case leaving
        }

        enum Added {
            case added(discarding: (key: Key, handler: Handler)?)
            case existing(Handler)
            case leaving
            case full
        }

        private struct Slot {
            let key: Key
            let handler: Handler
            var level = 0
            var isRecent = false
        }

        private var slots: [Slot] = []
        private var positions: [Key: Int] = [:]
        private var leaving: Set<Key> = []
        private var hand = 0
        /// The largest limit that anybody has asked for.
        private var limit = 1

        init() {}

        /// The handler, whose level changes by `change`.
        mutating func find(_ key: Key, changing change: Int = 0) -> Found {
            guard let position = positions[key] else { return leaving.contains(key) ? .leaving : .missing }
            slots[position].isRecent = true
            slots[position].level += change
            return .handler(slots[position].handler)
        }

        /// Keeps a new handler, unless there is one already.
        mutating func add(_ key: Key, _ handler: Handler, changing change: Int = 0, limit: Int) -> Added {
            switch find(key, changing: change) {
            case .handler(let existing): return .existing(existing)
            case .leaving: return .leaving
            case .missing: break
            }
            self.limit = max(self.limit, limit)
            let slot = Slot(key: key, handler: handler, level: change)
            if slots.count < self.limit {
                positions[key] = slots.count
                slots.append(slot)
                return .added(discarding: nil)
            }
            guard let position = nextToDiscard() else { return .full }
            let old = slots[position]
            positions[old.key] = nil
            leaving.insert(old.key)
            positions[key] = position
            slots[position] = slot
            return .added(discarding: (old.key, old.handler))
        }

        var handlers: [Handler] { slots.map(\.handler) }

        /// A discarded handler was destroyed.
        mutating func left(_ key: Key) {
            leaving.remove(key)
        }

        /// Moves the hand on until it has found one, at most twice around.
        private mutating func nextToDiscard() -> Int? {
            for _ in 0..<2 * slots.count {
                let position = hand
                hand = (hand + 1) % slots.count
                guard slots[position].level == 0 else { continue }
                if !slots[position].isRecent { return position }
                slots[position].isRecent = false
            }
            return nil
        }
    }

    /// The values that a label may have, the first so many that there are, with a number for each.
    struct KnownValues<Value: Hashable & Sendable>: Sendable {
        private var numbers: [Value: UInt32] = [:]

        init() {}

        func number(of value: Value) -> UInt32? { numbers[value] }

        /// The number of a value, from 2 on: 0 is for none, and 1 for others. Nil if there is no room for it.
        mutating func add(_ value: Value, limit: Int) -> UInt32? {
            if let number = numbers[value] { return number }
            guard numbers.count < limit else { return nil }
            let number = UInt32(numbers.count) + 2
            numbers[value] = number
            return number
        }
    }
#endif
