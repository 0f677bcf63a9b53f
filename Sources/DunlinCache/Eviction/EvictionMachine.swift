/// Decides what is thrown out when a level of a cache is full: S3-FIFO, which counts bytes.
///
/// It knows names and what they cost. It must not know what they stand for, nor the time.
///
/// Rules:
/// 1. What is new waits in a short queue, which has a tenth of the room. What was used again by the time it has come to
///    the front goes on into the long queue; the rest is thrown out. So what is asked for once, a scan of however many
///    names, passes through a tenth of the room, and the rest stays.
/// 2. What was thrown out of the short queue is remembered by its name for as long as about as many others have been.
///    If it comes back meanwhile, it goes into the long queue at once: what is used at long intervals stays as well.
/// 3. What comes to the front of the long queue begins at its end once more for each time that it was used since, three
///    times at most; otherwise it is thrown out.
///
/// A use is one number that is made larger: a hit moves nothing and allocates nothing, and that is why it is this and
/// no list that is ordered by use. 2Q and SLRU withstand scans as well, but each hit there changes a list.
struct EvictionMachine<Name: Hashable & Sendable>: Sendable {
    private struct Slot {
        var cost: Int
        var uses: UInt8 = 0
        var isKept: Bool
        var stamp: UInt64
    }

    private static var mostUses: UInt8 { 3 }

    let capacity: Int
    private(set) var cost = 0
    private(set) var evictions = 0
    private var newCost = 0
    private var slots: [Name: Slot] = [:]
    private var new = EvictionQueue<Name>()
    private var kept = EvictionQueue<Name>()
    private var lastStamp: UInt64 = 0
    /// The hashes of names that were thrown out, and when. A name that is taken for another does no harm.
    private var remembered: [Int: UInt64] = [:]
    private var memory = EvictionQueue<Int>()

    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    var count: Int { slots.count }
    var names: some Collection<Name> { slots.keys }

    func cost(of name: Name) -> Int? { slots[name]?.cost }

    /// Whether it has passed the short queue, or will.
    func isUsed(_ name: Name) -> Bool { slots[name].map { $0.isKept || $0.uses > 0 } ?? false }

    /// Returns whether it is the first use of something new.
    mutating func use(_ name: Name) -> Bool {
        guard let place = slots.index(forKey: name) else { return false }
        let slot = slots.values[place]
        if slot.uses < Self.mostUses { slots.values[place].uses += 1 }
        return slot.uses == 0 && !slot.isKept
    }

    /// Puts in something new, or says what something costs now. Returns what is thrown out for it, which is itself if
    /// it is too large. `isUsed`: it is known to have been used before.
    mutating func put(_ name: Name, cost: Int, isUsed: Bool = false) -> [Name] {
        let cost = max(0, cost)
        guard cost <= capacity else {
            remove(name)
            return [name]
        }
        if let old = slots[name] {
            self.cost += cost - old.cost
            if !old.isKept { newCost += cost - old.cost }
            slots[name]?.cost = cost
            if isUsed, !old.isKept { slots[name]?.uses = max(1, old.uses) }
        } else {
            let isKept = isUsed || remembered.removeValue(forKey: name.hashValue) != nil
            add(name, cost: cost, isKept: isKept)
        }
        return evicted()
    }

    @discardableResult
    mutating func remove(_ name: Name) -> Int? {
        guard let slot = slots.removeValue(forKey: name) else { return nil }
        forget(slot)
        compact()
        return slot.cost
    }

    mutating func removeAll() {
        let evictions = evictions
        self = EvictionMachine(capacity: capacity)
        self.evictions = evictions
    }

    private mutating func add(_ name: Name, cost: Int, isKept: Bool) {
        lastStamp += 1
        slots[name] = Slot(cost: cost, isKept: isKept, stamp: lastStamp)
        self.cost += cost
        if isKept {
            kept.append(name, lastStamp)
        } else {
            newCost += cost
            new.append(name, lastStamp)
        }
    }

    private mutating func forget(_ slot: Slot) {
        cost -= slot.cost
        if !slot.isKept { newCost -= slot.cost }
    }

    /// Places without a name are no more than there are names.
    private mutating func compact() {
        guard new.count + kept.count > 2 * slots.count + 64 else { return }
        let slots = slots
        new.removeAll { slots[$0]?.stamp != $1 }
        kept.removeAll { slots[$0]?.stamp != $1 }
    }
}

// MARK: - Throwing out

extension EvictionMachine {
    private mutating func evicted() -> [Name] {
        var names: [Name] = []
        while cost > capacity {
            // The short queue has what is over its tenth first. Nothing is lost if the long one is empty.
            if newCost > capacity / 10 || kept.isEmpty, !new.isEmpty {
                takeNew(&names)
            } else if !kept.isEmpty {
                takeKept(&names)
            } else {
                break
            }
        }
        return names
    }

    private mutating func takeNew(_ names: inout [Name]) {
        guard let (name, stamp) = new.popFirst(), let slot = slots[name], slot.stamp == stamp else { return }
        slots[name] = nil
        forget(slot)
        if slot.uses > 0 {
            add(name, cost: slot.cost, isKept: true)
        } else {
            remember(name)
            throwOut(name, &names)
        }
    }

    private mutating func takeKept(_ names: inout [Name]) {
        guard let (name, stamp) = kept.popFirst(), let slot = slots[name], slot.stamp == stamp else { return }
        slots[name] = nil
        forget(slot)
        if slot.uses > 0 {
            add(name, cost: slot.cost, isKept: true)
            slots[name]?.uses = slot.uses - 1
        } else {
            throwOut(name, &names)
        }
    }

    private mutating func throwOut(_ name: Name, _ names: inout [Name]) {
        evictions += 1
        names.append(name)
    }

    private mutating func remember(_ name: Name) {
        lastStamp += 1
        remembered[name.hashValue] = lastStamp
        memory.append(name.hashValue, lastStamp)
        while memory.count > max(64, slots.count), let (hash, stamp) = memory.popFirst() {
            if remembered[hash] == stamp { remembered[hash] = nil }
        }
    }
}
