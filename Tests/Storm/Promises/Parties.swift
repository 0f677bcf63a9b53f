import Foundation

/// Who asks in a storm of promises.
enum User: String, CaseIterable, Sendable {
    case nobody, alice, bob, carol

    static let known: [User] = [.alice, .bob, .carol]
}

/// Whom is asked. Each has a server of its own, but for the alias, which is found where an override says.
enum Site: String, CaseIterable, Sendable {
    case home, away, inner, alias

    var host: String { "\(rawValue).test" }
}

/// What a user proves to a site who it is by, and nobody else may ever see.
struct Secret: Sendable {
    static let mark = "s3cret-"

    let owner: String
    let site: String

    static func text(of user: User, at site: Site) -> String { "\(mark)\(user.rawValue)-\(site.rawValue)" }

    /// All that stand in a text.
    static func found(in text: String) -> [Secret] {
        text.components(separatedBy: mark).dropFirst().compactMap { rest in
            let words = rest.prefix { $0.isLetter || $0 == "-" }.split(separator: "-" as Character)
            return words.count == 2 ? Secret(owner: String(words[0]), site: String(words[1])) : nil
        }
    }
}

/// What a server says of a request in its response: for whom and for what it took it.
struct Answered: Sendable, Equatable, CustomStringConvertible {
    let user: String
    let host: String
    let server: String
    let target: String
    let language: String
    /// Each answer has a number of its own.
    let serial: Int

    var text: String { "\(user)|\(host)|\(server)|\(target)|\(language)|\(serial)" }

    var description: String { "answer \(serial) of \(server), to \(user) for \(host)\(target)" }

    init(user: String, host: String, server: Site, target: String, language: String, serial: Int) {
        (self.user, self.host, self.server) = (user, host, server.rawValue)
        (self.target, self.language, self.serial) = (target, language, serial)
    }

    init?(_ text: some StringProtocol) {
        let parts = String(text).split(separator: "|" as Character, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let serial = Int(parts[5]) else { return nil }
        (user, host, server, target, language) = (parts[0], parts[1], parts[2], parts[3], parts[4])
        self.serial = serial
    }
}

/// The rules of a guard, and what they forbid.
enum GuardKind: CaseIterable, Sendable {
    /// Nothing but 127.0.0.1, so not the inner server.
    case address
    /// Nothing but the home server's port.
    case port
    /// Not the host away.
    case host
}
