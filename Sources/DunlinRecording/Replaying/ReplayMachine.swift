/// Decides which recorded exchange answers a request.
///
/// Rules:
/// 1. Each recorded exchange answers once. Of several alike the first one that has not answered is taken.
/// 2. In order, only the first one that has not answered may be taken.
/// 3. A request for which there is none is a miss. It names the recorded request that differs least, one that has not
///    answered before one that has.
struct ReplayMachine {
    struct Miss: Sendable, Hashable {
        /// The index of the nearest recorded request; nil if there is none.
        var nearest: Int?
        var differences: [String]
        /// Whether it has answered before.
        var wasUsed: Bool
    }

    enum Action: Equatable {
        case answer(Int)
        case miss(Miss)
    }

    private let recorded: [ComparedRequest]
    private let isInOrder: Bool
    private var isUsed: [Bool]
    /// The first one that has not answered.
    private var first = 0
    /// Those that have not answered, by method and URL, the last one first.
    private var byName: [String: [Int]] = [:]

    init(_ recorded: [ComparedRequest], inOrder: Bool) {
        (self.recorded, isInOrder) = (recorded, inOrder)
        isUsed = Array(repeating: false, count: recorded.count)
        for index in recorded.indices.reversed() { byName[recorded[index].name, default: []].append(index) }
    }

    /// Those that have not answered.
    var unused: [Int] { isUsed.indices.filter { !isUsed[$0] } }

    mutating func take(_ live: ComparedRequest) -> Action {
        let candidates = byName[live.name] ?? []
        let found = candidates.lastIndex { index in
            (!isInOrder || index == first) && live.differences(from: recorded[index]).isEmpty
        }
        guard let found else { return .miss(miss(live)) }
        let index = candidates[found]
        byName[live.name]?.remove(at: found)
        isUsed[index] = true
        while first < isUsed.count, isUsed[first] { first += 1 }
        return .answer(index)
    }

    private func miss(_ live: ComparedRequest) -> Miss {
        let ranked = recorded.indices.map { (index: $0, differences: live.differences(from: recorded[$0])) }
        func rank(_ each: (index: Int, differences: [String])) -> (Int, Int, Int) {
            // Another path makes it another request.
            let distance = each.differences.count + (recorded[each.index].path == live.path ? 0 : 2)
            return (distance, isUsed[each.index] ? 1 : 0, each.index)
        }
        let nearest = ranked.min { rank($0) < rank($1) }
        return Miss(
            nearest: nearest?.index, differences: nearest?.differences ?? [],
            wasUsed: nearest.map { isUsed[$0.index] } ?? false)
    }
}

extension ComparedRequest {
    fileprivate var name: String { "\(method) \(origin)\(path)?\(query)" }
}
