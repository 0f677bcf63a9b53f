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
    @usableFromInline var indices: [Key: Int] = [:]
    @usableFromInline var oldest = -1
    @usableFromInline var newest = -1

    @inlinable package init(limit: Int = .max) {
        self.limit = limit
    }

    @inlinable package var count: Int { nodes.count }
    @inlinable package var keys: Dictionary<Key, Int>.Keys { indices.keys }
    /// The least recently used value.
    @inlinable package var first: (key: Key, value: Value)? {
        oldest < 0 ? nil : (nodes[oldest].key, nodes[oldest].value)
    }

    /// The value for a key, without counting as a use.
    @inlinable package subscript(key: Key) -> Value? { indices[key].map { nodes[$0].value } }

    /// All values, most recently used first.
    @inlinable package var latestFirst: some Sequence<(key: Key, value: Value)> {
        sequence(state: newest) { index -> (key: Key, value: Value)? in
            if index < 0 { return nil }
            let node = nodes[index]
            index = node.older
            return (node.key, node.value)
        }
    }

    /// Adds or replaces a value, and removes those beyond the limit.
    @inlinable package mutating func keep(_ value: Value, for key: Key) {
        if let index = indices[key] {
            nodes[index].value = value
            touch(index)
        } else {
            indices[key] = nodes.count
            nodes.append(Node(key, value))
            join(newest, nodes.count - 1)
            join(nodes.count - 1, -1)
            while nodes.count > limit, let first { remove(first.key) }
        }
    }

    @inlinable package mutating func use(_ key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        touch(index)
        return nodes[index].value
    }

    /// Changes a value in place; nil if there is none.
    @discardableResult
    @inlinable package mutating func change<Result, Failure: Error>(
        _ key: Key, _ change: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let index = indices[key] else { return nil }
        return try change(&nodes[index].value)
    }

    @discardableResult
    @inlinable package mutating func remove(_ key: Key) -> Value? {
        guard let index = indices.removeValue(forKey: key) else { return nil }
        join(nodes[index].older, nodes[index].newer)
        let last = nodes.removeLast()
        if index == nodes.count { return last.value }
        let removed = nodes[index].value
        nodes[index] = last
        indices[last.key] = index
        join(last.older, index)
        join(index, last.newer)
        return removed
    }

    @inlinable package mutating func removeAll() {
        self = RecentValues(limit: limit)
    }

    /// Makes the value the most recently used.
    @inlinable mutating func touch(_ index: Int) {
        if index == newest { return }
        join(nodes[index].older, nodes[index].newer)
        join(newest, index)
        join(index, -1)
    }

    /// Links two neighbours; -1 stands for either end.
    @inlinable mutating func join(_ older: Int, _ newer: Int) {
        if older < 0 { oldest = newer } else { nodes[older].newer = newer }
        if newer < 0 { newest = older } else { nodes[newer].older = older }
    }
}

extension RecentValues.Node: Sendable where Key: Sendable, Value: Sendable {}
extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}
