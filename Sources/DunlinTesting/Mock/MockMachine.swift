internal import DunlinTypes

/// Decides which request gets which outcome.
///
/// Rules: conditions come before exact paths, these before patterns, then the order of declaration counts; a route
/// whose outcomes are used up is skipped. A repeating last outcome is never used up, but must have been used once. It
/// does not know what outcomes do, and does not evaluate conditions: its caller says which of them hold.
struct MockMachine {
    typealias Condition = @Sendable (MockTransport.RecordedRequest) -> Bool

    private enum Match {
        case path(HTTP.Method, MockPath)
        case condition(String, Condition)

        /// The order of routes; smaller numbers come first.
        var rank: Int {
            switch self {
            case .condition: 0
            case .path(_, let path): path.isPattern ? 2 : 1
            }
        }
    }

    private struct Entry {
        let match: Match
        var outcomes: [MockTransport.Outcome] = []
        var used = 0
        var isRepeating = false

        var next: MockTransport.Outcome? {
            if used < outcomes.count { return outcomes[used] }
            return isRepeating ? outcomes.last : nil
        }

        var name: String {
            switch match {
            case .path(let method, let path): "\(method) \(path.text)"
            case .condition(let name, _): name
            }
        }
    }

    private var routes: [Entry] = []

    /// Declares a route. Returns its number, the same for the same method and path.
    mutating func declare(_ method: HTTP.Method, _ path: String) -> Int {
        let known = routes.firstIndex { route in
            if case .path(method, let other) = route.match { other.text == path } else { false }
        }
        if let known { return known }
        routes.append(Entry(match: .path(method, MockPath(path))))
        return routes.count - 1
    }

    /// Declares a route with a condition. Returns its number.
    mutating func declare(_ name: String, where condition: @escaping Condition) -> Int {
        routes.append(Entry(match: .condition(name, condition)))
        return routes.count - 1
    }

    /// The conditions of routes that have an outcome left.
    var conditions: [(route: Int, condition: Condition)] {
        routes.indices.compactMap { index in
            guard case .condition(_, let condition) = routes[index].match, routes[index].next != nil else { return nil }
            return (index, condition)
        }
    }

    mutating func add(_ outcome: MockTransport.Outcome, to route: Int) {
        routes[route].outcomes.append(outcome)
    }

    mutating func repeatLast(of route: Int) {
        routes[route].isRepeating = true
    }

    /// Takes an outcome; `met` are the routes whose conditions hold.
    mutating func take(_ method: HTTP.Method, _ target: String, met: Set<Int> = []) -> MockTransport.Outcome? {
        let candidates = routes.indices.filter { index in
            guard routes[index].next != nil else { return false }
            return switch routes[index].match {
            case .path(let own, let path): own == method && path.matches(target)
            case .condition: met.contains(index)
            }
        }
        guard let best = candidates.min(by: { routes[$0].match.rank < routes[$1].match.rank }) else { return nil }
        defer { routes[best].used += 1 }
        return routes[best].next
    }

    /// The outcomes that no request has used.
    var unused: [String] {
        routes.flatMap { route in
            if route.outcomes.isEmpty { return ["\(route.name) has no outcome"] }
            return route.outcomes.indices.dropFirst(route.used).map { index in
                "\(route.name): \(route.outcomes[index]) (\(index + 1) of \(route.outcomes.count))"
            }
        }
    }

    /// Every route and what is left of it.
    var summary: [String] {
        routes.map { route in
            let left = max(0, route.outcomes.count - route.used)
            let rest = route.isRepeating ? "repeating" : "\(left) of \(route.outcomes.count) outcomes left"
            return "\(route.name) (\(rest))"
        }
    }
}
