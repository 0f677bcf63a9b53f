import Dunlin
import DunlinCommandLine
import FoundationEssentials
import Glibc

/// The values that options stand for when the command runs: files, standard input, and a password from the terminal.
extension RequestOptions {
    /// The request's body. Throws a `UsageError` if something cannot be read.
    func body() throws -> RequestBody {
        if data.isEmpty { return .none }
        let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
        // A long file is sent from disk.
        if data.count == 1, case .file(let path) = data[0] {
            try DataSource.checkReadable(path)
            return RequestBody(.file(.init(path)), contentType: type)
        }
        let pieces = try data.map { try $0.read() }
        return .bytes(Bytes(Array(pieces.joined(separator: "&".utf8))), contentType: type)
    }

    /// The fields, including those that `--json` adds.
    var sentFields: Fields {
        if !isJSON || fields.contains("accept") { return fields }
        var fields = fields
        fields.append(name: "Accept", value: "application/json")
        return fields
    }

    var options: HTTPSession.Options {
        get throws {
            var options = HTTPSession.Options(fields: sentFields)
            if let limit { options.timeouts.total = .value(limit) }
            if let bearer {
                let token = String(decoding: try bearer.read().prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
                guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                    throw UsageError(description: "--bearer needs a token of printable characters without spaces")
                }
                options.credentials = .value(.bearer(token: token))
            }
            return options
        }
    }

    /// The credentials for a server's challenge; nil if no user is given.
    func credentials() throws -> HTTP.Credentials? {
        guard let user else { return nil }
        // A command without secrets does not contain it.
        let isNeeded = !printsCurl || showsSecrets
        let password = try user.password ?? (isNeeded ? Terminal.password(of: user.name) : "")
        if answersDigestAlone { return .digest(user: user.name, password: password) }
        return .password(user: user.name, password: password)
    }
}

extension RequestOptions.DataSource {
    func read() throws -> [UInt8] {
        switch self {
        case .text(let text): return Array(text.utf8)
        case .input: return try Terminal.input()
        case .file(let path):
            try Self.checkReadable(path)
            do {
                return Array(try Data(contentsOf: URL(filePath: path)))
            } catch {
                let cause = (error as? CocoaError)?.underlying as? POSIXError
                throw Self.unreadable(path, cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)")
            }
        }
    }

    fileprivate static func checkReadable(_ path: String) throws(UsageError) {
        if access(path, R_OK) != 0 { throw unreadable(path, String(cString: strerror(errno))) }
    }

    private static func unreadable(_ path: String, _ reason: String) -> UsageError {
        UsageError(description: "the file \(path) cannot be read: \(reason)")
    }
}
