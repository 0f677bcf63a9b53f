/// What a server wrote for people in the body of a refusal.
///
/// Rules:
/// 1. Only a JSON object is read, and of it the members that RFC 9457, RFC 6749 and their like name, if they are text,
///    or the `message` of an object `error`. Everything else may be meant for programs, or repeat what was sent.
/// 2. Secrets that the text itself names (in links, `name=value`, `name: value`) are hidden, and so is every word that
///    has the form of a key or a token: of at least 16 letters and digits, with both between two slashes, or of 32 with
///    letters of both cases.
/// 3. It is one line of at most 200 characters. A body of more than 64 KiB is not read, since that takes long.
enum ServerMessage {
    private static let members: Set<String> = ["title", "detail", "message", "error", "error_description"]
    private static let (longest, shortestKey, shortestWithSlashes) = (200, 16, 32)
    private static let readBytes = 64 << 10

    static func text(of body: Bytes, hiding secret: HTTP.SecretFields) -> String? {
        // Most refusals have another body, which is not worth an attempt.
        guard body.count <= readBytes, body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
        do {
            let object = try HTTP.JSON.standard.decode(DynamicValue.self, from: body).members ?? [:]
            var said: [DynamicValue.Members.Member] = []
            for member in object where members.contains(member.key) && !secret.hides(member.key) {
                let isObject = member.key == "error" && member.value.members != nil
                guard let text = (isObject ? member.value["message"] : member.value)?.string else { continue }
                said.append(.init(key: member.key, value: .string(shown(text, secret))))
            }
            if said.isEmpty { return nil }
            let text = String(try DynamicValue.object(.init(said)).json(.init(escapesSlashes: false)))
            return VisibleText.of(text, upTo: longest) + (text.unicodeScalars.count <= longest ? "" : "…")
        } catch {
            return nil
        }
    }

    private static func shown(_ text: String, _ secret: HTTP.SecretFields) -> String {
        // Invisible characters must not hide a name.
        let visible = VisibleText.of(text, upTo: 4 * longest)
        var rest = SecretText.masked(visible, as: .link, hiding: secret).unicodeScalars[...]
        var shown = ""
        while !rest.isEmpty {
            let word = rest.prefix(while: isKeyCharacter)
            shown += isKey(word) ? "***" : String(word.isEmpty ? rest.prefix(1) : word)
            rest = rest.dropFirst(max(word.count, 1))
        }
        return shown
    }

    private static func isKey(_ word: Substring.UnicodeScalarView) -> Bool {
        func has(_ range: ClosedRange<Unicode.Scalar>, _ part: Substring.UnicodeScalarView) -> Bool {
            part.contains { range.contains($0) }
        }
        func hasCase(_ part: Substring.UnicodeScalarView) -> Bool { has("a"..."z", part) || has("A"..."Z", part) }
        let isInParts = word.split(separator: "/").contains { part in
            part.count >= shortestKey && has("0"..."9", part) && hasCase(part)
        }
        let isLong = word.count >= shortestWithSlashes
        return isInParts || isLong && has("0"..."9", word) && has("a"..."z", word) && has("A"..."Z", word)
    }

    /// Whether the character occurs in base64, base64url, hexadecimal and percent encoding. The dots of a token
    /// separate parts that are keys themselves.
    private static func isKeyCharacter(_ character: Unicode.Scalar) -> Bool {
        character.isASCII
            && (character.properties.isAlphabetic || "0123456789-_+/=%".unicodeScalars.contains(character))
    }
}
