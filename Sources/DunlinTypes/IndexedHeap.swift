/// The positions of a heap's items, by their names.
@usableFromInline package protocol HeapIndices {
    associatedtype Name
    init()
    subscript(name: Name) -> Int? { get set }
}

extension Dictionary: HeapIndices where Value == Int {}

@usableFromInline package protocol HeapItem {
    associatedtype Indices: HeapIndices
    var name: Indices.Name { get }
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
    @usableFromInline var indices = Item.Indices()

    @inlinable package init() {}

    @inlinable package var count: Int { items.count }
    @inlinable package var first: Item? { items.first }
    @inlinable package subscript(name: Item.Indices.Name) -> Item? { indices[name].map { items[$0] } }

    /// Adds an item that is not in the heap.
    @inlinable package mutating func add(_ item: Item) {
        indices[item.name] = items.count
        items.append(item)
        rise(items.count - 1)
    }

    /// Changes an item in place, except for its name; nil if there is none.
    @discardableResult
    @inlinable package mutating func change<Result>(
        _ name: Item.Indices.Name, _ change: (inout Item) -> Result
    ) -> Result? {
        guard let index = indices[name] else { return nil }
        defer { settle(index) }
        return change(&items[index])
    }

    @discardableResult
    @inlinable package mutating func remove(_ name: Item.Indices.Name) -> Item? {
        guard let index = indices[name] else { return nil }
        indices[name] = nil
        let last = items.removeLast()
        if index == items.count { return last }
        let removed = items[index]
        items[index] = last
        indices[last.name] = index
        settle(index)
        return removed
    }

    @discardableResult
    @inlinable package mutating func popFirst() -> Item? { items.first.flatMap { remove($0.name) } }

    @inlinable mutating func settle(_ index: Int) {
        rise(index)
        sink(index)
    }

    @inlinable mutating func rise(_ start: Int) {
        var index = start
        while index > 0, items[index].precedes(items[(index - 1) / 2]) {
            swap(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    @inlinable mutating func sink(_ start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].precedes(items[child]) { child += 1 }
            guard items[child].precedes(items[index]) else { return }
            swap(index, child)
            index = child
        }
    }

    @inlinable mutating func swap(_ left: Int, _ right: Int) {
        items.swapAt(left, right)
        indices[items[left].name] = left
        indices[items[right].name] = right
    }
}

extension IndexedHeap: Sendable where Item: Sendable, Item.Indices: Sendable {}
