/// Texts in Normalization Form C (Unicode Standard Annex #15), by which two systems send the same bytes for one
/// password (RFC 8265 §4.2).
enum NormalText {
    static func of(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        // What `Composition` does not know is what it never meets behind the mapping of UTS 46.
        let scalars = text.unicodeScalars.flatMap { dissolved[$0] ?? [$0] }
        var normal = String.UnicodeScalarView()
        normal.append(contentsOf: Composition.normalized(scalars))
        return String(normal)
    }

    /// What stands for the characters that NFC does not keep.
    private static let dissolved: [Unicode.Scalar: [Unicode.Scalar]] = {
        var table: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        var reader = TableReader(NormalTables.dissolved)
        var (point, last): (UInt32, Int64) = (0, 0)
        while let gap = reader.next(), let length = reader.next() {
            point += gap
            var text: [Unicode.Scalar] = []
            for _ in 0..<length {
                last += Int64(reader.nextSigned() ?? 0)
                if let scalar = UInt32(exactly: last).flatMap(Unicode.Scalar.init) { text.append(scalar) }
            }
            if let scalar = Unicode.Scalar(point) { table[scalar] = text }
        }
        return table
    }()
}
