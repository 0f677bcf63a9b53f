/// The positions of a heap's items, by their names.
@usableFromInline package protocol HeapPlaces {
    associatedtype Name
    init()
    subscript(name: Name) -> Int? { get set }
}

extension Dictionary: HeapPlaces where Value == Int {}

@usableFromInline package protocol HeapItem {
    associatedtype Places: HeapPlaces
    var name: Places.Name { get }
    /// Whether this item comes out before the other.
    func precedes(_ other: Self) -> Bool
}

/// A binary heap that knows the position of each item: taking the first item, and changing or removing any other, takes
/// logarithmic time. No two items may have the same name.
///
/// Its code can be inlined into other modules, which a generic type needs to be as fast there as their own: timers are
/// kept in one.
@usableFromInline package struct IndexedHeap<Item: HeapItem> {
    @usableFromInline var items: [Item] = []
    @usableFromInline var places = Item.Places()

    @inlinable package init() {}

    @inlinable package var count: Int { items.count }
    @inlinable package var first: Item? { items.first }
    @inlinable package subscript(name: Item.Places.Name) -> Item? { places[name].map { items[$0] } }

    /// Adds an item that is not in the heap.
    @inlinable package mutating func add(_ item: Item) {
        places[item.name] = items.count
        items.append(item)
        rise(items.count - 1)
    }

    /// Changes an item in place, except for its name; nil if there is none.
    @discardableResult
    @inlinable package mutating func change<Result>(
        _ name: Item.Places.Name, _ change: (inout Item) -> Result
    ) -> Result? {
        guard let place = places[name] else { return nil }
        defer { settle(place) }
        return change(&items[place])
    }

    @discardableResult
    @inlinable package mutating func remove(_ name: Item.Places.Name) -> Item? {
        guard let place = places[name] else { return nil }
        places[name] = nil
        let last = items.removeLast()
        if place == items.count { return last }
        let removed = items[place]
        items[place] = last
        places[last.name] = place
        settle(place)
        return removed
    }

    @discardableResult
    @inlinable package mutating func popFirst() -> Item? { items.first.flatMap { remove($0.name) } }

    @inlinable mutating func settle(_ place: Int) {
        rise(place)
        sink(place)
    }

    @inlinable mutating func rise(_ start: Int) {
        var place = start
        while place > 0, items[place].precedes(items[(place - 1) / 2]) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    @inlinable mutating func sink(_ start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].precedes(items[child]) { child += 1 }
            guard items[child].precedes(items[place]) else { return }
            swap(place, child)
            place = child
        }
    }

    @inlinable mutating func swap(_ left: Int, _ right: Int) {
        items.swapAt(left, right)
        places[items[left].name] = left
        places[items[right].name] = right
    }
}

extension IndexedHeap: Sendable where Item: Sendable, Item.Places: Sendable {}
