/// Decides what is evicted when a level of a cache is full: S3-FIFO, counting bytes.
///
/// It knows names and their costs, and keeps a value with each. It must not know what they stand for, nor the time.
///
/// Rules:
/// 1. New names wait in a short queue, with a tenth of the room. At the front, a name that was used again moves to the
///    long queue; others are evicted. So names used once, as in a scan, pass through a tenth of the room and leave the
///    rest alone.
/// 2. A name evicted from the short queue is remembered until about as many others have been. If it comes back
///    meanwhile, it goes to the long queue at once, so names used at long intervals stay too.
/// 3. A name at the front of the long queue goes back to its end once for each use since, three times at most;
///    otherwise it is evicted.
///
/// A use only increases a number: a hit moves and allocates nothing, unlike in a list ordered by use. 2Q and SLRU
/// withstand scans too, but change a list at each hit.
struct EvictionMachine<Name: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var value: Value
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
    /// The hashes of evicted names, and when they were evicted. Two names with one hash do no harm.
    private var remembered: [Int: UInt64] = [:]
    private var memory = EvictionQueue<Int>()

    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    var count: Int { slots.count }
    var names: some Collection<Name> { slots.keys }
    var values: [Value] { slots.values.map(\.value) }

    func cost(of name: Name) -> Int? { slots[name]?.cost }

    /// Whether a name has passed the short queue, or will.
    func isUsed(_ name: Name) -> Bool { slots[name].map { $0.isKept || $0.uses > 0 } ?? false }

    /// Notes a use. Returns the name's value, and whether the use is the first of a new name; nil if it is not here.
    mutating func find(_ name: Name) -> (value: Value, isFirstUse: Bool)? {
        guard let index = slots.index(forKey: name) else { return nil }
        let (uses, isKept) = (slots.values[index].uses, slots.values[index].isKept)
        if uses < Self.mostUses { slots.values[index].uses = uses + 1 }
        return (slots.values[index].value, uses == 0 && !isKept)
    }

    /// The value of a name; this is no use of it.
    subscript(name: Name) -> Value? { slots[name]?.value }

    /// Inserts a name, or updates its value and cost. Returns the evicted names, which include `name` if it is too
    /// large. `isUsed`: the name is known to have been used before.
    mutating func put(_ name: Name, _ value: Value, cost: Int, isUsed: Bool = false) -> [Name] {
        let cost = max(0, cost)
        guard cost <= capacity else {
            remove(name)
            return [name]
        }
        if let index = slots.index(forKey: name) {
            var slot = slots.values[index]
            self.cost += cost - slot.cost
            if !slot.isKept { newCost += cost - slot.cost }
            (slot.value, slot.cost) = (value, cost)
            if isUsed, !slot.isKept { slot.uses = max(1, slot.uses) }
            slots.values[index] = slot
        } else {
            let isKept =
                isUsed || (!remembered.isEmpty && remembered.removeValue(forKey: name.hashValue) != nil)
            add(name, value, cost: cost, isKept: isKept)
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

    private mutating func add(_ name: Name, _ value: Value, uses: UInt8 = 0, cost: Int, isKept: Bool) {
        lastStamp += 1
        slots[name] = Slot(value: value, cost: cost, uses: uses, isKept: isKept, stamp: lastStamp)
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

    /// Removes outdated places when they outnumber the names.
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
            // The short queue evicts first when it is over its tenth. Nothing is lost if the long one is empty.
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
            add(name, slot.value, cost: slot.cost, isKept: true)
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
            add(name, slot.value, uses: slot.uses - 1, cost: slot.cost, isKept: true)
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

// MARK: - Names alone

extension EvictionMachine where Value == Void {
    /// Notes a use. Returns whether it is the first of a new name.
    mutating func use(_ name: Name) -> Bool { find(name)?.isFirstUse ?? false }

    mutating func put(_ name: Name, cost: Int, isUsed: Bool = false) -> [Name] {
        put(name, (), cost: cost, isUsed: isUsed)
    }
}
