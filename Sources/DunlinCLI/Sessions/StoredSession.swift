import Dunlin
import DunlinCommandLine

/// What a session's file says: whom it is for, who asks, and the cookies.
struct StoredSession: Sendable {
    /// What no other session has, nor a later one of the same name, nor this one before its last login.
    var id: String
    /// The only origin that gets the credentials.
    let origin: HTTP.Origin
    var credentials: SessionCredentials?
    /// The oldest first.
    var cookies: [HTTP.Cookie]

    init(
        id: String = Self.newID(), origin: HTTP.Origin, credentials: SessionCredentials? = nil,
        cookies: [HTTP.Cookie] = []
    ) {
        (self.id, self.origin, self.credentials, self.cookies) = (id, origin, credentials, cookies)
    }

    static func newID() -> String { String(UInt128.random(in: 0...UInt128.max), radix: 36) }

    /// The greatest length of a file, in bytes. A full jar fits.
    static let longest = 32 * 1024 * 1024
}

// MARK: - The text

extension StoredSession {
    private struct Text: Codable {
        let version: Int
        /// Missing in files of builds before the first release.
        let id: String?
        let origin: String
        let credentials: SessionCredentials?
        let cookies: CookieJar.Snapshot
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// The version of the format that is written.
    private static let version = 1

    func written() throws -> Bytes {
        let jar = CookieJar()
        _ = jar.adopt(cookies)
        let snapshot = jar.snapshot(includingSessionCookies: true)
        return try HTTP.JSON.standard.encode(
            Text(
                version: Self.version, id: id, origin: origin.description, credentials: credentials, cookies: snapshot))
    }

    /// Reads the text of a file. The error says nothing of the content, which is secret.
    init(_ text: Bytes) throws(UsageError) {
        let read: Text
        do {
            let version = try HTTP.JSON.strict.decode(Version.self, from: text).version
            guard version == Self.version else {
                throw UsageError(
                    description: "has the format \(version), and this version of dunlin reads \(Self.version)")
            }
            read = try HTTP.JSON.strict.decode(Text.self, from: text)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError(description: "is damaged: it is not what dunlin wrote")
        }
        let url: URLOrigin
        do throws(UsageError) { url = try URLOrigin(of: read.origin) } catch {
            throw UsageError(description: "is damaged: its origin is none")
        }
        guard url.origin.description == read.origin else {
            throw UsageError(description: "is damaged: its origin is none")
        }
        self.init(
            id: read.id ?? Self.newID(), origin: url.origin, credentials: read.credentials,
            cookies: read.cookies.cookies)
    }
}
