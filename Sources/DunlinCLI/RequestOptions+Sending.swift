import Dunlin
import DunlinCommandLine
import DunlinTypes

/// The values that options stand for when the command runs: files, standard input, and a password from the terminal.
extension RequestOptions {
    /// The request's body. Throws a `UsageError` if something cannot be read.
    func body() throws -> RequestBody {
        if let upload {
            if case .file(let path) = upload, try InputFile.isRegular(path) { return .file(path, contentType: nil) }
            // Credentials and a printed command want all of it; what is sent once is sent as it comes.
            if user != nil || printsCurl { return .bytes(Bytes(try upload.read()), contentType: nil) }
            return .stream(try InputChunks(upload), contentType: nil)
        }
        if !form.isEmpty {
            do {
                return try .multipart { try form.map { try $0.part() } }
            } catch let error as NetworkError where error.code == .invalidPart {
                throw UsageError(description: error.reason)
            }
        }
        if data.isEmpty || putsDataInURL { return .none }
        let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
        // A long file is sent from disk.
        if data.count == 1, case .file(let path) = data[0], try InputFile.isRegular(path) {
            return RequestBody(.file(.init(path)), contentType: contentType(type))
        }
        return .bytes(Bytes(try joinedData()), contentType: contentType(type))
    }

    /// What a bar calls the body; nil for one that needs none.
    var uploadTitle: String? {
        if let upload {
            guard case .file(let path) = upload else { return "standard input" }
            return path.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty }.map(String.init)
        }
        let files = form.compactMap { part in
            if case .file(let path, let name, _) = part.content { name ?? path } else { nil }
        }
        if let file = files.first { return files.count == 1 ? file : "\(files.count) files" }
        if data.count == 1, !putsDataInURL, case .file(let path) = data[0] { return path }
        return nil
    }

    private func joinedData() throws -> [UInt8] {
        Array(try data.map { try $0.read() }.joined(separator: "&".utf8))
    }

    /// The URL with what `-G` and `-T` add to it.
    func completed(_ url: String) throws -> String {
        var parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).prefix(1).map(String.init)
        if case .file(let path) = upload {
            let (start, query) = (parts[0].prefix { $0 != "?" }, parts[0].drop { $0 != "?" })
            let authority = start.drop { $0 != ":" }.dropFirst(3)
            if authority.hasSuffix("/") || !authority.contains("/") {
                let name = path.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty } ?? ""
                parts[0] = start + (authority.hasSuffix("/") ? "" : "/") + Self.encoded(name.utf8) + query
            }
        }
        var additions = parameters
        if putsDataInURL { additions.append(Self.encoded(try joinedData(), keeping: "!$&'()*+,;=:@/?%")) }
        for addition in additions {
            let isOpen = parts[0].hasSuffix("?") || parts[0].hasSuffix("&")
            parts[0] += (isOpen ? "" : parts[0].contains("?") ? "&" : "?") + addition
        }
        return parts[0]
    }

    /// Percent-encoded but for letters, digits and `-._~`.
    static func encoded(_ bytes: some Sequence<UInt8>, keeping others: String = "") -> String {
        bytes.reduce(into: "") { text, byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            if isPlain || "-._~".utf8.contains(byte) || others.utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 0x10 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }

    var options: HTTPSession.Options {
        get throws {
            var options = HTTPSession.Options(fields: sentFields)
            if let limit { options.timeouts.total = .value(limit) }
            if let bearer {
                options.credentials = .value(.bearer(token: try Self.token(of: bearer)))
            }
            return options
        }
    }

    /// The token. A file of it may end with one line end, and has no other line.
    static func token(of source: DataSource) throws -> String {
        var bytes = try source.read()
        if case .text = source {
            // What is given in the arguments is the token itself.
        } else if bytes.last == 0x0A {
            bytes.removeLast()
            if bytes.last == 0x0D { bytes.removeLast() }
        }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw UsageError(description: "--bearer needs one token of printable characters without spaces")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The credentials for a server's challenge; nil if no user is given.
    func credentials() throws -> HTTP.Credentials? {
        guard let user else { return nil }
        // A command without secrets does not contain it, nor does a request that no server has answered yet.
        let isNeeded = !isOffline && (!printsCurl || showsSecrets)
        let password = try user.password ?? (isNeeded ? Terminal.password(of: user.name) : "")
        if answersDigestAlone { return .digest(user: user.name, password: password) }
        return .password(user: user.name, password: password)
    }
}

extension RequestOptions.DataSource {
    /// Parses `text`, `=text`, `name=text`, `@file` or `name@file`.
    static func urlEncoded(_ text: String) -> Self {
        guard let end = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return .encoded(name: "", .text(text))
        }
        let rest = String(text[text.index(after: end)...])
        let source: Self = text[end] == "=" ? .text(rest) : rest == "-" ? .input : .file(rest)
        return .encoded(name: String(text[..<end]), source)
    }

    func read() throws -> [UInt8] {
        switch self {
        case .text(let text): return Array(text.utf8)
        case .input: return try InputFile.standardInput()
        case .encoded(let name, let source):
            let content = RequestOptions.encoded(try source.read())
            return Array((name.isEmpty ? content : "\(name)=\(content)").utf8)
        case .file(let path): return try InputFile.bytes(of: path)
        }
    }
}
