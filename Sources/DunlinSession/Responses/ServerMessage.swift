/// What a server wrote for people in the body of a refusal.
///
/// Rules:
/// 1. Only a JSON object is read, and of it the members that RFC 9457, RFC 6749 and their like name, if they are text.
///    Everything else may be meant for programs, or repeat what was sent.
/// 2. Secrets that the text itself names (in links, `name=value`, `name: value`) are hidden, and so is every word that
///    has the form of a key or a token: at least 16 letters and digits, of both kinds.
/// 3. It is one line of at most 200 characters.
enum ServerMessage {
    private static let members: Set<String> = ["title", "detail", "message", "error", "error_description"]
    private static let (longest, shortestKey) = (200, 16)

    static func text(of body: Bytes, hiding secret: HTTP.SecretFields) -> String? {
        // Most refusals have another body, which is not worth an attempt.
        guard body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return nil }
        do {
            let object = try HTTP.JSON.standard.decode(DynamicValue.self, from: body).members ?? [:]
            var said: [DynamicValue.Members.Member] = []
            for member in object where members.contains(member.key) && !secret.hides(member.key) {
                guard let text = member.value.string else { continue }
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
        word.count >= shortestKey && word.contains { $0.properties.isAlphabetic }
            && word.contains { ("0"..."9").contains($0) }
    }

    /// Whether the character occurs in base64, base64url, hexadecimal and percent encoding. The dots and slashes of a
    /// token separate parts that are keys themselves.
    private static func isKeyCharacter(_ character: Unicode.Scalar) -> Bool {
        character.properties.isAlphabetic || ("0"..."9").contains(character)
            || "-_+=%".unicodeScalars.contains(character)
    }
}
