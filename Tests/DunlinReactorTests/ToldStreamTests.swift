import Testing

@testable import DunlinReactor

@Suite struct `A stream of what is news` {
    /// Sees each number after the one known, up to ten, and tells those of a list.
    private static func numbers(reporting list: Set<Int>) -> AsyncStream<Int> {
        AsyncStream(knowing: 0) { known in
            known < 10 ? known + 1 : nil
        } tell: { known, number in
            known = number
            return list.contains(number) ? number : nil
        }
    }

    @Test(arguments: [[], [1], [10], [2, 3, 7], Array(1...10)])
    func `a stream of news skips what is not new, and ends when nothing comes any more`(list: [Int]) async {
        var told: [Int] = []
        for await number in Self.numbers(reporting: Set(list)) { told.append(number) }
        #expect(told == list)
    }
}
