internal import DunlinTypes
internal import FoundationEssentials

/// The default fields by which a session describes the program and its user.
package enum ClientFields {
    package static func userAgent(process: String?, version: String?) -> String {
        let info = ProcessInfo.processInfo
        let system = info.operatingSystemVersion
        return userAgent(
            process: process ?? info.processName, version: version,
            kernel: "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)", architecture: architecture)
    }

    package static var acceptLanguage: String? { acceptLanguage(ProcessInfo.processInfo.environment) }

    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "unknown"
        #endif
    }

    /// A User-Agent such as `photos/2.1 (Linux 6.8.0; x86_64)`. Characters of the name that are not allowed in a token
    /// (RFC 9110 §5.6.2) are left out.
    static func userAgent(process: String, version: String?, kernel: String, architecture: String) -> String {
        var (name, number) = (token(process), token(version ?? ""))
        if name.isEmpty { (name, number) = ("Dunlin", LibraryVersion.number) }
        return "\(name)/\(number.isEmpty ? "0" : number) (Linux \(kernel); \(architecture))"
    }

    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.filter(TokenCharacters.contains), as: UTF8.self)
    }

    /// An Accept-Language such as `de-DE, en;q=0.9`, from the locale variables that programs on Linux use; nil if they
    /// name no language.
    ///
    /// `LANGUAGE` is a list that comes before the other variables, but counts only if they name a language: this is
    /// gettext's rule. At most six languages are listed.
    static func acceptLanguage(_ environment: [String: String]) -> String? {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let named, let own = language(named) else { return nil }
        var languages: [String] = []
        for text in (environment["LANGUAGE"] ?? "").split(separator: ":") {
            if let language = language(String(text)), !languages.contains(language) { languages.append(language) }
        }
        if languages.isEmpty { languages = [own] }
        return languages.prefix(6).enumerated().map { index, language in
            index == 0 ? language : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// The language of a locale: `de_AT.UTF-8@euro` is `de-AT`; `C` and `POSIX` have none.
    private static func language(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        if name == "C" || name == "POSIX" { return nil }
        let parts = name.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
        guard let first = parts.first, (2...8).contains(first.utf8.count), first.utf8.allSatisfy(isLetter) else {
            return nil
        }
        let isTag = parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || isDigit($0) }
        }
        return isTag ? parts.joined(separator: "-") : first
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
