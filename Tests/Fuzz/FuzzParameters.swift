import Dunlin

/// What values become: JSON that is read is written and read again as the same; pairs hold nothing but what may stand
/// in a URL; whatever a part is named, its field is one line.
enum FuzzParameters {
    static func violation(of input: [UInt8]) -> String? {
        if let violation = violation(ofPartNamed: String(decoding: input, as: UTF8.self)) { return violation }
        guard let value = read(Bytes(input)) else { return nil }
        for format in [DynamicValue.JSONFormat(), DynamicValue.JSONFormat(escapesSlashes: false, isIndented: true)] {
            if let text = written({ try value.json(format) }), read(text) != value { return "JSON of another value" }
        }
        guard let members = value.members else { return nil }
        let styles = [
            HTTP.ParameterStyle(), HTTP.ParameterStyle(arrays: .indexed, objects: .dots, bools: .words, order: .given),
        ]
        for style in styles {
            guard let query = written({ try HTTP.Query(members, style: style) }) else { return "no pairs" }
            if !isFitForURL(query.encoded) { return "pairs that are not fit for a URL" }
        }
        return nil
    }

    private static func read(_ text: Bytes) -> DynamicValue? {
        do throws(HTTP.JSON.SyntaxError) {
            return try DynamicValue(json: text)
        } catch {
            return nil
        }
    }

    /// Nil for what was refused.
    private static func written<Value>(_ write: () throws -> Value) -> Value? {
        do {
            return try write()
        } catch let error as NetworkError where [.invalidParameters, .invalidPart].contains(error.code) {
            return nil
        } catch {
            fatalError("not refused by name: \(error)")
        }
    }

    private static func isFitForURL(_ text: String) -> Bool {
        let kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?=&".utf8
        var digits = 0
        for byte in text.utf8 {
            if digits > 0 {
                guard (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if !kept.contains(byte) {
                return false
            }
        }
        return digits == 0
    }

    private static func violation(ofPartNamed name: String) -> String? {
        let body = written {
            try RequestBody.multipart(boundary: "B") { MultipartPart.data(name, "v", fileName: name) }
        }
        // A field holds no control character but tab, and such a name is refused.
        guard let body, case .bytes(let bytes) = body.content else { return nil }
        let lines = String(bytes).split(separator: "\r\n", omittingEmptySubsequences: false)
        let isWhole = lines.count == 7 && lines[0] == "--B" && lines[3] == "" && lines[4] == "v" && lines[5] == "--B--"
        return isWhole ? nil : "a part whose name is more than that"
    }
}
