internal import DunlinTypes

/// Which request gets which outcome.
///
/// Rules: exact paths before patterns, then in order of declaration; a route whose outcomes are used up is passed over.
/// A repeating last outcome is never used up, but must have been used once. Knows nothing of what outcomes do.
struct MockMachine {
    private struct Entry {
        let method: HTTP.Method
        let path: MockPath
        var outcomes: [MockTransport.Outcome] = []
        var used = 0
        var isRepeating = false

        var next: MockTransport.Outcome? {
            if used < outcomes.count { return outcomes[used] }
            return isRepeating ? outcomes.last : nil
        }

        var name: String { "\(method) \(path.text)" }
    }

    private var routes: [Entry] = []

    /// The route's number, the same for the same method and path.
    mutating func declare(_ method: HTTP.Method, _ path: String) -> Int {
        if let known = routes.firstIndex(where: { $0.method == method && $0.path.text == path }) { return known }
        routes.append(Entry(method: method, path: MockPath(path)))
        return routes.count - 1
    }

    mutating func add(_ outcome: MockTransport.Outcome, to route: Int) {
        routes[route].outcomes.append(outcome)
    }

    mutating func repeatLast(of route: Int) {
        routes[route].isRepeating = true
    }

    mutating func take(_ method: HTTP.Method, _ target: String) -> MockTransport.Outcome? {
        let candidates = routes.indices.filter {
            routes[$0].method == method && routes[$0].next != nil && routes[$0].path.matches(target)
        }
        guard let best = candidates.first(where: { !routes[$0].path.isPattern }) ?? candidates.first else { return nil }
        defer { routes[best].used += 1 }
        return routes[best].next
    }

    /// Outcomes that no request has asked for.
    var unused: [String] {
        routes.flatMap { route in
            if route.outcomes.isEmpty { return ["\(route.name) was given no outcome"] }
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
