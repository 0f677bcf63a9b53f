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

    init(_ recorded: [ComparedRequest], inOrder: Bool) {
        (self.recorded, isInOrder) = (recorded, inOrder)
        isUsed = Array(repeating: false, count: recorded.count)
    }

    /// Those that have not answered.
    var unused: [Int] { isUsed.indices.filter { !isUsed[$0] } }

    mutating func take(_ live: ComparedRequest) -> Action {
        let candidates = isInOrder ? Array(unused.prefix(1)) : unused
        if let index = candidates.first(where: { live.differences(from: recorded[$0]).isEmpty }) {
            isUsed[index] = true
            return .answer(index)
        }
        let ranked = recorded.indices.map { (index: $0, differences: live.differences(from: recorded[$0])) }
        let nearest = ranked.min { one, other in
            (one.differences.count, isUsed[one.index] ? 1 : 0, one.index)
                < (other.differences.count, isUsed[other.index] ? 1 : 0, other.index)
        }
        return .miss(
            Miss(
                nearest: nearest?.index, differences: nearest?.differences ?? [],
                wasUsed: nearest.map { isUsed[$0.index] } ?? false))
    }
}
