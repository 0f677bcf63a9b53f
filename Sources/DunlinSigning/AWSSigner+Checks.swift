internal import Dunlin

extension AWSSigner {
    /// Throws if no request can be signed with these settings.
    func check() throws(NetworkError) {
        for (what, text) in [("region", region), ("service", service.name)] where !Self.isName(text) {
            throw NetworkError(
                .invalidConfiguration,
                "\"\(text)\" is no \(what) that a request can be signed for; write one such as "
                    + (what == "region" ? "\"eu-central-1\"" : "\"execute-api\""))
        }
        if case .chunks(let size) = payload, size < 8 * 1024 {
            throw NetworkError(
                .invalidConfiguration, "chunks of \(size) bytes are too small; S3 wants at least 8192 in each")
        }
    }

    /// Whether it is letters, digits, dots, underlines and hyphens.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                let character = Character(UnicodeScalar(byte))
                return byte < 0x80 && (character.isLetter || character.isNumber || "-._".contains(character))
            }
    }
}

extension AWSSigner.Credentials {
    func check() throws(NetworkError) {
        let parts = [("access key", accessKey), ("secret", secret), ("session token", sessionToken ?? "-")]
        for (what, text) in parts where text.isEmpty || !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            // The text is not shown: two of the three are secret.
            throw NetworkError(
                .invalidConfiguration,
                text.isEmpty
                    ? "the \(what) that requests are to be signed with is empty"
                    : "the \(what) that requests are to be signed with has a space, a line break or another character "
                        + "that none has; check that it was read without its line's end")
        }
        if accessKey.utf8.contains(where: { "/,=".utf8.contains($0) }) {
            throw NetworkError(
                .invalidConfiguration,
                "the access key that requests are to be signed with has a character that none has; check that it is "
                    + "not the secret")
        }
    }
}
