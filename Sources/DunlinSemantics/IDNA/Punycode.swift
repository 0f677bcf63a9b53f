/// Punycode (RFC 3492): any scalars as letters, digits and hyphens. Knows nothing of `xn--` or of hosts.
///
/// Numbers that leave 32 bits and code points that are no scalars end in nil, never in a trap.
package enum Punycode {
    private static let base: UInt32 = 36
    private static let leastThreshold: UInt32 = 1
    private static let greatestThreshold: UInt32 = 26
    private static let initialBias: UInt32 = 72
    private static let initialCodePoint: UInt32 = 128

    /// Returns the Punycode; nil for texts too long to count in. The time grows with the square of the length.
    package static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        var output = scalars.filter(\.isASCII).map { UInt8($0.value) }
        let basic = UInt32(output.count)
        var handled = basic
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var codePoint = initialCodePoint
        var delta: UInt32 = 0
        var bias = initialBias
        while let next = scalars.lazy.map(\.value).filter({ $0 >= codePoint }).min() {
            let (step, tooFar) = (next - codePoint).multipliedReportingOverflow(by: handled + 1)
            let (sum, overflow) = delta.addingReportingOverflow(step)
            guard !tooFar, !overflow else { return nil }
            delta = sum
            for scalar in scalars {
                if scalar.value < next {
                    guard delta < .max else { return nil }
                    delta += 1
                } else if scalar.value == next {
                    append(delta, bias: bias, to: &output)
                    bias = adapted(delta, points: handled + 1, isFirst: handled == basic)
                    delta = 0
                    handled += 1
                }
            }
            guard delta < .max else { return nil }
            delta += 1
            codePoint = next + 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the decoded text; nil if it is not Punycode. Digits may be in either case; the rest is kept as written.
    package static func decode(_ text: some Collection<UInt8>) -> [Unicode.Scalar]? {
        let input = Array(text)
        let hyphen = input.lastIndex(of: UInt8(ascii: "-"))
        guard input[..<(hyphen ?? 0)].allSatisfy({ $0 < 0x80 }) else { return nil }
        var output = input[..<(hyphen ?? 0)].map { Unicode.Scalar($0) }
        var position = hyphen.map { $0 + 1 } ?? 0
        var codePoint = initialCodePoint
        var index: UInt32 = 0
        var bias = initialBias
        while position < input.count {
            guard let delta = number(in: input, at: &position, bias: bias) else { return nil }
            let points = UInt32(output.count) + 1
            let (sum, overflow) = index.addingReportingOverflow(delta)
            guard !overflow else { return nil }
            bias = adapted(delta, points: points, isFirst: index == 0 && codePoint == initialCodePoint)
            let (next, tooFar) = codePoint.addingReportingOverflow(sum / points)
            guard !tooFar, let scalar = Unicode.Scalar(next) else { return nil }
            codePoint = next
            index = sum % points
            output.insert(scalar, at: Int(index))
            index += 1
        }
        return output
    }

    /// Appends a delta as a generalized variable-length integer.
    private static func append(_ delta: UInt32, bias: UInt32, to output: inout [UInt8]) {
        var rest = delta
        var weight = base
        while true {
            let threshold = threshold(weight, bias: bias)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            weight += base
        }
        output.append(digit(rest))
    }

    private static func number(in input: [UInt8], at position: inout Int, bias: UInt32) -> UInt32? {
        var number: UInt32 = 0
        var factor: UInt32 = 1
        var weight = base
        while position < input.count, let digit = value(of: input[position]) {
            position += 1
            let (part, partOverflow) = digit.multipliedReportingOverflow(by: factor)
            let (sum, sumOverflow) = number.addingReportingOverflow(part)
            guard !partOverflow, !sumOverflow else { return nil }
            number = sum
            let threshold = threshold(weight, bias: bias)
            if digit < threshold { return number }
            let (next, overflow) = factor.multipliedReportingOverflow(by: base - threshold)
            guard !overflow else { return nil }
            factor = next
            weight += base
        }
        return nil
    }

    private static func threshold(_ weight: UInt32, bias: UInt32) -> UInt32 {
        weight <= bias ? leastThreshold : min(max(weight - bias, leastThreshold), greatestThreshold)
    }

    private static func adapted(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
        let skew: UInt32 = 38
        let damp: UInt32 = 700
        var rest = isFirst ? delta / damp : delta / 2
        rest += rest / points
        var steps: UInt32 = 0
        while rest > (base - leastThreshold) * greatestThreshold / 2 {
            rest /= base - leastThreshold
            steps += base
        }
        return steps + (base - leastThreshold + 1) * rest / (rest + skew)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 26
        default: nil
        }
    }
}
