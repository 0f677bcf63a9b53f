/// A limited number of values by key; the least recently used goes first.
///
/// Keeping a value counts as a use; looking at one or changing it does not. Every operation takes constant time. It
/// knows neither time nor sizes. Its code can be inlined into other modules, which a generic type needs to be as fast
/// there as their own.
@usableFromInline package struct RecentValues<Key: Hashable, Value> {
    /// A value in the order of use; `older` and `newer` are its neighbours' indices, or -1.
    @usableFromInline struct Node {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var older = -1
        @usableFromInline var newer = -1

        @inlinable init(_ key: Key, _ value: Value) {
            (self.key, self.value) = (key, value)
        }
    }

    @usableFromInline let limit: Int
    /// All nodes, without gaps: the last one takes the index of one that is removed.
    @usableFromInline var nodes: [Node] = []
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var oldest = -1
    @usableFromInline var newest = -1

    @inlinable package init(limit: Int = .max) {
        self.limit = limit
    }

    @inlinable package var count: Int { nodes.count }
    @inlinable package var keys: Dictionary<Key, Int>.Keys { places.keys }
    /// The least recently used value.
    @inlinable package var first: (key: Key, value: Value)? {
        oldest < 0 ? nil : (nodes[oldest].key, nodes[oldest].value)
    }

    /// The value for a key, without counting as a use.
    @inlinable package subscript(key: Key) -> Value? { places[key].map { nodes[$0].value } }

    /// All values, most recently used first.
    @inlinable package var latestFirst: some Sequence<(key: Key, value: Value)> {
        sequence(state: newest) { place -> (key: Key, value: Value)? in
            if place < 0 { return nil }
            let node = nodes[place]
            place = node.older
            return (node.key, node.value)
        }
    }

    /// Adds or replaces a value, and removes those beyond the limit.
    @inlinable package mutating func keep(_ value: Value, for key: Key) {
        if let place = places[key] {
            nodes[place].value = value
            touch(place)
        } else {
            places[key] = nodes.count
            nodes.append(Node(key, value))
            join(newest, nodes.count - 1)
            join(nodes.count - 1, -1)
            while nodes.count > limit, let first { remove(first.key) }
        }
    }

    @inlinable package mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        touch(place)
        return nodes[place].value
    }

    /// Changes a value in place; nil if there is none.
    @discardableResult
    @inlinable package mutating func change<Result, Failure: Error>(
        _ key: Key, _ change: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let place = places[key] else { return nil }
        return try change(&nodes[place].value)
    }

    @discardableResult
    @inlinable package mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        join(nodes[place].older, nodes[place].newer)
        let last = nodes.removeLast()
        if place == nodes.count { return last.value }
        let removed = nodes[place].value
        nodes[place] = last
        places[last.key] = place
        join(last.older, place)
        join(place, last.newer)
        return removed
    }

    @inlinable package mutating func removeAll() {
        self = RecentValues(limit: limit)
    }

    /// Makes the value the most recently used.
    @inlinable mutating func touch(_ place: Int) {
        if place == newest { return }
        join(nodes[place].older, nodes[place].newer)
        join(newest, place)
        join(place, -1)
    }

    /// Links two neighbours; -1 stands for either end.
    @inlinable mutating func join(_ older: Int, _ newer: Int) {
        if older < 0 { oldest = newer } else { nodes[older].newer = newer }
        if newer < 0 { newest = older } else { nodes[newer].older = older }
    }
}

extension RecentValues.Node: Sendable where Key: Sendable, Value: Sendable {}
extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}
