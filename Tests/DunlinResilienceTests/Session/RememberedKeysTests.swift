import DunlinResilience
import Testing

@Suite struct `Remembered keys` {
    private static let few = RememberedKeys<Int>.few
    private static let most = RememberedKeys<Int>.most

    private static func add(
        _ numbers: Range<Int>, to keys: inout RememberedKeys<Int>, where isIdle: (Int) -> Bool
    ) {
        for number in numbers { keys.add(number, for: "\(number)", where: isIdle) }
    }

    @Test func `of very many idle keys the least recently used are forgotten`() {
        var keys = RememberedKeys<Int>()
        Self.add(0..<Self.few, to: &keys) { _ in true }
        #expect(keys.use("0") == 0)
        Self.add(Self.few..<Self.few + 1, to: &keys) { _ in true }
        #expect(keys["0"] == 0 && keys["1"] == nil && keys["\(Self.few)"] == Self.few)
        Self.add(Self.few + 1..<100 * Self.few, to: &keys) { _ in true }
        #expect(keys.latestFirst.count { _ in true } <= Self.few)
        #expect(keys["0"] == nil && keys["\(100 * Self.few - 1)"] != nil)
    }

    @Test func `a key that is held back is not forgotten while others can be, however many come`() {
        var keys = RememberedKeys<Int>()
        Self.add(0..<100 * Self.few, to: &keys) { $0 >= 100 }
        for number in 0..<100 { #expect(keys[String(number)] == number) }
        #expect(keys.latestFirst.count { _ in true } <= Self.few)
    }

    @Test func `of more held back keys than memory allows the least recently used are forgotten`() {
        var keys = RememberedKeys<Int>()
        Self.add(0..<Self.most, to: &keys) { _ in false }
        #expect(keys["0"] == 0 && keys.latestFirst.count { _ in true } == Self.most)
        Self.add(Self.most..<3 * Self.most, to: &keys) { _ in false }
        #expect(keys.latestFirst.count { _ in true } <= Self.most)
        #expect(keys["0"] == nil && keys["\(3 * Self.most - 1)"] != nil)
        // Once they are not held back any more, as few are kept as ever.
        Self.add(3 * Self.most..<4 * Self.most, to: &keys) { _ in true }
        #expect(keys.latestFirst.count { _ in true } <= Self.few)
    }
}
