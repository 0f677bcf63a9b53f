import DunlinSecure
import Testing

@Suite struct `Random numbers` {
    @Test(arguments: [0, 1, 128])
    func `as many are drawn as were asked for, and none of them twice`(count: Int) {
        let numbers = SecureRandom.numbers(count)
        #expect(numbers.count == count && Set(numbers).count == count)
        #expect(count == 0 || numbers != SecureRandom.numbers(count))
    }
}
