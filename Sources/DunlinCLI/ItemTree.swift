import Dunlin
import DunlinCommandLine

/// The JSON value that items make together, by HTTPie's rules: a later item replaces an earlier one with the same path,
/// and the elements that an array misses are null.
struct ItemTree {
    private enum Node {
        case null
        case value(DynamicValue)
        case object(Members)
        case array(Elements)

        /// What it is called in complaints.
        var kind: String {
            switch self {
            case .null: "null"
            case .object, .value(.object): "an object"
            case .array, .value(.array): "an array"
            case .value(.string): "text"
            case .value: "a value"
            }
        }
    }

    // Objects of a class, so that setting one member copies none of the others. They are no tree's but this one's.
    private final class Members {
        var keys: [String] = []
        // Keys are the same if their bytes are.
        var nodes: [[UInt8]: Node] = [:]

        func set(_ node: Node, for key: String) {
            if nodes.updateValue(node, forKey: Array(key.utf8)) == nil { keys.append(key) }
        }
    }

    private final class Elements {
        var nodes: [Node] = []
    }

    private var root: Node?
    /// How many elements that no item gave the arrays may have together.
    private var room = ItemPath.indexLimit + 1

    /// All of it; nil if there is no item.
    var value: DynamicValue? { root.map(Self.value) }

    mutating func set(_ value: DynamicValue, at name: String) throws(UsageError) {
        root = try put(value, try ItemPath(name).steps[...], into: root, name)
    }

    private mutating func put(
        _ value: DynamicValue, _ steps: ArraySlice<ItemPath.Step>, into node: Node?, _ name: String
    ) throws(UsageError) -> Node {
        guard let step = steps.first else { return .value(value) }
        if case .key(let key) = step {
            let members = try members(of: node, name)
            members.set(
                try put(value, steps.dropFirst(), into: members.nodes[Array(key.utf8)], name), for: key)
            return .object(members)
        }
        let elements = try elements(of: node, name)
        let index = if case .index(let index) = step { index } else { elements.nodes.count }
        if index >= elements.nodes.count {
            room -= index - elements.nodes.count
            guard room >= 0 else {
                throw UsageError(description: "\"\(name)\" leaves too many elements of arrays without a value")
            }
            elements.nodes += repeatElement(.null, count: index + 1 - elements.nodes.count)
        }
        elements.nodes[index] = try put(value, steps.dropFirst(), into: elements.nodes[index], name)
        return .array(elements)
    }

    private func members(of node: Node?, _ name: String) throws(UsageError) -> Members {
        let members = Members()
        switch node {
        case nil, .null: break
        case .object(let members): return members
        case .value(.object(let object)): for member in object { members.set(.value(member.value), for: member.key) }
        case .value, .array: throw Self.clash(name, "an object", node)
        }
        return members
    }

    private func elements(of node: Node?, _ name: String) throws(UsageError) -> Elements {
        let elements = Elements()
        switch node {
        case nil, .null: break
        case .array(let elements): return elements
        case .value(.array(let array)): elements.nodes = array.map { .value($0) }
        case .value, .object: throw Self.clash(name, "an array", node)
        }
        return elements
    }

    private static func clash(_ name: String, _ kind: String, _ node: Node?) -> UsageError {
        UsageError(
            description: "\"\(name)\" needs \(kind), and an earlier item makes \(node?.kind ?? "null") of it")
    }

    private static func value(_ node: Node) -> DynamicValue {
        switch node {
        case .null: .null
        case .value(let value): value
        case .array(let elements): .array(elements.nodes.map(value))
        case .object(let members):
            .object(
                .init(members.keys.map { .init(key: $0, value: value(members.nodes[Array($0.utf8)] ?? .null)) }))
        }
    }
}
