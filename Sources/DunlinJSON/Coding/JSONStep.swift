/// How one gets to a value from the one around it.
enum JSONStep {
    case none
    case key(any CodingKey)
    case element(Int)

    /// Nil where the value is the one around.
    var key: (any CodingKey)? {
        switch self {
        case .none: nil
        case .key(let key): key
        case .element(let index): JSONKey(index: index)
        }
    }
}

/// What knows how it is reached: the path is put together only when somebody asks for it.
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
