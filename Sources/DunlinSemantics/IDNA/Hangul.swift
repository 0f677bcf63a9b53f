/// Hangul syllables decompose by arithmetic (The Unicode Standard §3.12).
enum Hangul {
    private static let syllables: UInt32 = 0xAC00
    private static let syllableCount: UInt32 = 19 * vowelCount * trailCount
    private static let leads: UInt32 = 0x1100
    private static let leadCount: UInt32 = 19
    private static let vowels: UInt32 = 0x1161
    private static let vowelCount: UInt32 = 21
    /// One before the first, so that 0 means none.
    private static let trails: UInt32 = 0x11A7
    private static let trailCount: UInt32 = 28

    static func parts(of scalar: Unicode.Scalar) -> (Unicode.Scalar, Unicode.Scalar)? {
        guard scalar.value >= syllables, scalar.value - syllables < syllableCount else { return nil }
        let index = scalar.value - syllables
        let trail = index % trailCount
        let first = trail > 0 ? scalar.value - trail : leads + index / (vowelCount * trailCount)
        let second = trail > 0 ? trails + trail : vowels + index % (vowelCount * trailCount) / trailCount
        guard let first = Unicode.Scalar(first), let second = Unicode.Scalar(second) else { return nil }
        return (first, second)
    }

    static func whole(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        let (first, second) = (first.value, second.value)
        if (leads..<leads + leadCount).contains(first), (vowels..<vowels + vowelCount).contains(second) {
            return Unicode.Scalar(syllables + ((first - leads) * vowelCount + second - vowels) * trailCount)
        }
        if (syllables..<syllables + syllableCount).contains(first), (first - syllables) % trailCount == 0,
            (trails + 1..<trails + trailCount).contains(second)
        {
            return Unicode.Scalar(first + second - trails)
        }
        return nil
    }
}
