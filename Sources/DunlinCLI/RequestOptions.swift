import Dunlin
import DunlinCommandLine

/// The options of a request and its user.
struct RequestOptions: Equatable, Sendable {
    /// The method; nil for GET, or POST if there is a body.
    var method: String?
    var fields = Fields()
    /// The names of fields that are not sent though they usually are.
    var leftOut: Set<String> = []
    var data: [DataSource] = []
    var isJSON = false
    var user: User?
    /// Whether the password is never sent in clear text, whatever the server asks for.
    var answersDigestAlone = false
    var bearer: DataSource?
    var limit: Duration?
    /// Whether the data is part of the URL instead of a body.
    var putsDataInURL = false
    /// What is added to the URL's query, percent-encoded.
    var parameters: [String] = []
    /// Whether only the head is requested.
    var asksHeadOnly = false
    var form: [FormPart] = []
    /// Whether words after the URL gave members of the JSON object, or files of the form.
    var hasMemberItems = false
    var hasFileItems = false
    /// The file that is sent as it is.
    var upload: DataSource?
    /// The program's name; nil for the command's, empty for none.
    var userAgent: String?
    /// Whether the command for `curl` is printed instead of sending.
    var printsCurl = false
    /// Whether the request is printed instead of sending.
    var isOffline = false
    var showsSecrets = false
    /// Whether everything sent and received is shown on standard error.
    var traces = false

    /// Data given in the arguments, in a file or on standard input.
    enum DataSource: Equatable, Sendable {
        case text(String)
        case file(String)
        case input
        /// Content that is percent-encoded, perhaps after `name=`.
        indirect case encoded(name: String, DataSource)

        /// Whether it reads standard input.
        var isInput: Bool {
            if case .encoded(_, let source) = self { return source.isInput }
            return self == .input
        }

        /// Parses `@file`, `@-`, or the text itself.
        init(_ text: String) {
            if text == "@-" {
                self = .input
            } else if text.hasPrefix("@") {
                self = .file(String(text.dropFirst()))
            } else {
                self = .text(text)
            }
        }
    }

    struct User: Equatable, Sendable {
        let name: String
        /// The password; nil if it must be asked for.
        let password: String?

        init(_ text: String) throws(UsageError) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty else {
                throw UsageError(description: "--user needs NAME:PASSWORD, or NAME to be asked for the password")
            }
            self.name = String(name)
            password = parts.count == 2 ? String(parts[1]) : nil
        }
    }

    var sendsNothing: Bool { printsCurl || isOffline }

    var httpMethod: HTTP.Method {
        if let method { return HTTP.Method(method) }
        if asksHeadOnly { return .head }
        if upload != nil { return .put }
        return form.isEmpty && (data.isEmpty || putsDataInURL) ? .get : .post
    }
}

// MARK: - From the arguments

extension RequestOptions {
    static func method(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty,
            text.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D })
        else { throw UsageError(description: "\"\(text)\" is not a method; -X needs a word such as PUT") }
        return text
    }

    /// Throws for options that do not fit together.
    func check() throws(UsageError) {
        if isJSON, data.count > 1 { throw UsageError(description: "--json and -d both give a body; use one") }
        if user != nil, bearer != nil {
            throw UsageError(description: "credentials are given twice: by --user and --bearer; give one")
        }
        if user != nil || bearer != nil, fields.contains("authorization") {
            let option = user != nil ? "--user" : "--bearer"
            throw UsageError(
                description: "credentials are given twice: by -H Authorization and \(option); give one")
        }
        try checkBody()
        let inputs = data.filter(\.isInput).count + form.filter(\.isInput).count
        if inputs + (bearer == .input ? 1 : 0) + (upload == .input ? 1 : 0) > 1 {
            throw UsageError(description: "standard input can be read once, and two arguments ask for it")
        }
        if showsSecrets, !sendsNothing {
            throw UsageError(description: "--show-secrets needs --curl or --offline as well")
        }
        if printsCurl, isOffline {
            throw UsageError(description: "--curl and --offline both print the request instead of sending it; use one")
        }
        if let method, ["TRACE", "CONNECT"].contains(method.uppercased()) {
            throw UsageError(description: "this command cannot send \(method) requests")
        }
    }

    private func checkBody() throws(UsageError) {
        let bodies = [
            ("-d", !data.isEmpty && !isJSON), (hasMemberItems ? "NAME=VALUE" : "--json", isJSON),
            (hasFileItems ? "NAME@FILE" : "-F", !form.isEmpty), ("-T", upload != nil),
        ]
        .filter(\.1).map(\.0)
        if bodies.count > 1 { throw UsageError(description: "\(bodies[0]) and \(bodies[1]) both give a body; use one") }
        if putsDataInURL, bodies != ["-d"] { throw UsageError(description: "-G needs -d as well, and nothing else") }
        if asksHeadOnly, let body = bodies.first, !putsDataInURL {
            throw UsageError(description: "-I asks for the head only, and \(body) gives a body; use one")
        }
    }
}
