/// The mapping of UTS 46 §4 step 1, non-transitional: what is valid or a deviation stays, what is mapped is replaced,
/// what is ignored goes, what is disallowed is an error.
enum IDNAMapping {
    enum Action: Equatable {
        case keep
        case disallow
        case ignore
        case replace(ArraySlice<Unicode.Scalar>)
    }

    static func action(for scalar: Unicode.Scalar) -> Action {
        let code = codes[scalar]
        switch code {
        case 0: return .keep
        case 1: return .disallow
        case 2: return .ignore
        case _ where code % 2 == 1:
            let target = Int64(scalar.value) + Int64(TableReader.signed((code - 3) / 2))
            guard let mapped = Unicode.Scalar(UInt32(truncatingIfNeeded: target)) else { return .disallow }
            return .replace([mapped])
        default:
            return .replace(replacements[Int((code - 4) / 2)])
        }
    }

    /// Whether the mapping would leave this scalar as it is.
    static func isValid(_ scalar: Unicode.Scalar) -> Bool {
        codes[scalar] == 0
    }

    /// Returns the mapped name in NFC.
    static func mapped(_ name: String) throws(IDNAError) -> [Unicode.Scalar] {
        var output: [Unicode.Scalar] = []
        for index in name.unicodeScalars.indices {
            let scalar = name.unicodeScalars[index]
            switch action(for: scalar) {
            case .keep: output.append(scalar)
            case .ignore: break
            case .replace(let scalars): output += scalars
            case .disallow: throw IDNAError(problem: .disallowed(scalar), label: label(around: index, of: name))
            }
        }
        // Four scalars become one at most, so this is too long however it composes, and bounds the work that follows.
        guard output.count <= 4 * 254 else { throw IDNAError(problem: .nameTooLong, label: name) }
        return Composition.normalized(output)
    }

    /// Returns the label around an index, as written.
    private static func label(around index: String.Index, of name: String) -> String {
        let isDot = { (scalar: Unicode.Scalar) in ".．。｡".unicodeScalars.contains(scalar) }
        let before = name.unicodeScalars[..<index].lastIndex(where: isDot).map(name.unicodeScalars.index(after:))
        let after = name.unicodeScalars[index...].firstIndex(where: isDot)
        return String(name.unicodeScalars[(before ?? name.startIndex)..<(after ?? name.endIndex)])
    }

    private static let codes = RangeTable(IDNATables.mapping)

    private static let replacements: [ArraySlice<Unicode.Scalar>] = {
        var reader = TableReader(IDNATables.replacements)
        var all: [ArraySlice<Unicode.Scalar>] = []
        var value: Int64 = 0
        while let length = reader.next() {
            var scalars: [Unicode.Scalar] = []
            for _ in 0..<length {
                value += Int64(reader.nextSigned() ?? 0)
                if let scalar = Unicode.Scalar(UInt32(truncatingIfNeeded: value)) { scalars.append(scalar) }
            }
            all.append(scalars[...])
        }
        return all
    }()
}
