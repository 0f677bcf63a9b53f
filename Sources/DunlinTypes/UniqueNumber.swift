/// Makes numbers, as text, that no other process has either.
package enum UniqueNumber {
    package static func next() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next(), radix: 36) + "-" + String(random.next(), radix: 36)
    }
}
