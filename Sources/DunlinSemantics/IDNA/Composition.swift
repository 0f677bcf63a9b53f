/// Normalization Form C (Unicode Standard Annex #15) for text that the UTS 46 mapping has been through.
///
/// The mapping replaces every character that NFC does not keep, so what still decomposes are the pairs that NFC puts
/// together again and Hangul syllables; the table holds those pairs and serves both ways. Combining classes come from
/// the standard library, which has no public NFC.
enum Composition {
    static func normalized(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        // Nothing below the first combining mark decomposes into, or composes with, something else below it.
        guard scalars.contains(where: { $0.value >= 0x300 }) else { return scalars }
        var decomposed: [Unicode.Scalar] = []
        decomposed.reserveCapacity(scalars.count * 2)
        for scalar in scalars { decompose(scalar, into: &decomposed) }
        return composed(ordered(decomposed))
    }

    private static func decompose(_ scalar: Unicode.Scalar, into output: inout [Unicode.Scalar]) {
        if let (first, second) = Hangul.parts(of: scalar) ?? pairs.parts[scalar] {
            decompose(first, into: &output)
            decompose(second, into: &output)
        } else {
            output.append(scalar)
        }
    }

    /// Returns the marks after each starter in the order of their classes; marks of one class keep their order.
    private static func ordered(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var marks: [(order: UInt8, scalar: Unicode.Scalar)] = []
        var output: [Unicode.Scalar] = []
        output.reserveCapacity(scalars.count)
        for scalar in scalars {
            let order = combiningClass(scalar)
            if order == 0 {
                output += sorted(marks)
                marks.removeAll(keepingCapacity: true)
                output.append(scalar)
            } else {
                marks.append((order, scalar))
            }
        }
        return output + sorted(marks)
    }

    private static func sorted(_ marks: [(order: UInt8, scalar: Unicode.Scalar)]) -> [Unicode.Scalar] {
        guard marks.count > 1 else { return marks.map(\.scalar) }
        // `sort` need not be stable: the position decides among equals.
        let ordered = marks.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
        return ordered.map(\.element.scalar)
    }

    private static func composed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var output: [Unicode.Scalar] = []
        output.reserveCapacity(scalars.count)
        var starter: Int?
        var last: UInt8 = 0
        for scalar in scalars {
            let order = combiningClass(scalar)
            // A mark reaches its starter unless one of its own class, or another starter, stands between.
            if let index = starter, index == output.count - 1 || last < order,
                let whole = Hangul.whole(output[index], scalar) ?? pairs.wholes[Pair(output[index], scalar)]
            {
                output[index] = whole
                continue
            }
            if order == 0 { starter = output.count }
            last = order
            output.append(scalar)
        }
        return output
    }

    private static func combiningClass(_ scalar: Unicode.Scalar) -> UInt8 {
        scalar.value < 0x300 ? 0 : scalar.properties.canonicalCombiningClass.rawValue
    }

    private struct Pair: Hashable {
        let first: Unicode.Scalar
        let second: Unicode.Scalar

        init(_ first: Unicode.Scalar, _ second: Unicode.Scalar) {
            self.first = first
            self.second = second
        }
    }

    private struct Pairs: Sendable {
        var parts: [Unicode.Scalar: (Unicode.Scalar, Unicode.Scalar)] = [:]
        var wholes: [Pair: Unicode.Scalar] = [:]

        init(_ text: String) {
            var reader = TableReader(text)
            var whole: UInt32 = 0
            while let gap = reader.next(), let distance = reader.nextSigned(), let value = reader.next() {
                whole += gap
                guard let composite = Unicode.Scalar(whole), let second = Unicode.Scalar(value),
                    let first = Unicode.Scalar(UInt32(truncatingIfNeeded: Int64(whole) + Int64(distance)))
                else { continue }
                parts[composite] = (first, second)
                wholes[Pair(first, second)] = composite
            }
        }
    }

    private static let pairs = Pairs(IDNATables.composites)
}
