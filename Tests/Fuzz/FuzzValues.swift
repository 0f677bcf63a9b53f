import DunlinSemantics
import DunlinTypes

/// Field values that say what a download is: ranges, validators, dates, digests and names. Whatever comes, it is
/// refused, or it is one thing that is read the same when it is written again; and no name leads out of a folder.
enum FuzzValues {
    static func violation(of input: [UInt8]) -> String? {
        let value = Bytes(input)
        return rangeViolation(value) ?? validatorViolation(value) ?? digestViolation(value) ?? nameViolation(value)
            ?? linkViolation(value)
    }

    private static func rangeViolation(_ value: Bytes) -> String? {
        guard let range = ContentRange(value) else { return nil }
        if ContentRange(Bytes(range.description)) != range { return "another range" }
        guard case .part(let part, let complete) = range else { return nil }
        if part.isEmpty || part.lowerBound < 0 { return "a part without bytes" }
        return part.upperBound > complete ?? .max ? "a part beyond the whole" : nil
    }

    private static func validatorViolation(_ value: Bytes) -> String? {
        if let date = HTTPDate(value), HTTPDate(Bytes(date.description)) != date { return "another date" }
        if let tag = EntityTag(value), Bytes(tag.description) != value { return "another tag" }
        let name = Array("etag".utf8)
        let bytes = name + value.array
        let fields = Fields(bytes: bytes, entries: [.init(name: 0..<name.count, value: name.count..<bytes.count)])
        guard let validator = Validator(fields) else { return nil }
        if Validator(validator.description) != validator { return "another validator" }
        return validator.agreement(with: fields) == .same ? nil : "a state that is not itself"
    }

    private static func digestViolation(_ value: Bytes) -> String? {
        let name = Array("repr-digest".utf8)
        let bytes = name + value.array
        let entry = Fields.Entry(name: 0..<name.count, value: name.count..<bytes.count)
        let outcome = DigestFields.representation(Fields(bytes: bytes, entries: [entry]))
        guard case .declared(let digests) = outcome else { return nil }
        if digests.isEmpty { return "no digest is declared" }
        let written = digests.map { "\($0.algorithm)=:\(Base64.encode($0.bytes)):" }.joined(separator: ", ")
        return DigestFields.representation(["Repr-Digest": written]) == outcome ? nil : "other digests"
    }

    private static func linkViolation(_ value: Bytes) -> String? {
        let name = Array("link".utf8)
        let bytes = name + value.array
        let fields = Fields(bytes: bytes, entries: [.init(name: 0..<name.count, value: name.count..<bytes.count)])
        let links = LinkField.all(in: fields)
        if links.contains(where: { $0.reference.utf8.contains(UInt8(ascii: ">")) }) { return "a reference too long" }
        let written = links.map { link in
            let relations = link.relations.joined(separator: " ").filter { $0 != "\\" && $0 != "\"" }
            return "<\(link.reference)>;rel=\"\(relations)\""
        }
        let again = LinkField.all(in: ["Link": written.joined(separator: ",")])
        if again.map(\.reference) != links.map(\.reference) { return "other links" }
        // What is shown of a text is never longer by more than the stars for each of its values.
        let masked = SecretText.masked(String(value), as: .links)
        return masked.utf8.count > String(value).utf8.count * 4 ? "more than there was" : nil
    }

    private static func nameViolation(_ value: Bytes) -> String? {
        let text = String(value)
        let name = Array("content-disposition".utf8)
        let bytes = name + value.array
        let entry = Fields.Entry(name: 0..<name.count, value: name.count..<bytes.count)
        let fields = Fields(bytes: bytes, entries: [entry])
        let limits = [FileName.longest, 16]
        for limit in limits {
            let names = [
                FileName.sanitized(text, limit: limit), FileName.suggested(fields, path: "/", limit: limit),
                FileName.suggested([:], path: "/" + text, limit: limit),
            ]
            for name in names {
                if let violation = violation(ofName: name, limit) { return "\(violation): \(name.debugDescription)" }
            }
        }
        return nil
    }

    private static func violation(ofName name: String, _ limit: Int) -> String? {
        if name.isEmpty { return "an empty name" }
        if name.utf8.count > limit { return "a name too long" }
        if name.hasPrefix(".") { return "a hidden name" }
        if name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0x2F || $0 == 0x5C }) { return "a path" }
        if name.unicodeScalars.contains(where: { 0x202A...0x202E ~= $0.value }) { return "a name turned around" }
        return FileName.sanitized(name, limit: limit) == name ? nil : "another name the second time"
    }
}
