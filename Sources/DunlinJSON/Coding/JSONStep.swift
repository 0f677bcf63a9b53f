/// A step from a container to a value within it.
enum JSONStep {
    case none
    case key(any CodingKey)
    case element(Int)

    /// The coding key; nil if the step stays at the same value.
    var key: (any CodingKey)? {
        switch self {
        case .none: nil
        case .key(let key): key
        case .element(let index): JSONKey(index: index)
        }
    }
}

/// A node that knows how it is reached. The path is assembled only on demand.
protocol JSONNode: AnyObject {
    var parent: Self? { get }
    var step: JSONStep { get }
}

extension JSONNode {
    var path: [any CodingKey] {
        var path: [any CodingKey] = []
        var node: Self? = self
        while let here = node {
            if let key = here.step.key { path.append(key) }
            node = here.parent
        }
        return path.reversed()
    }
}
