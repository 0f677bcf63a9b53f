import DunlinCommandLine
import DunlinTypes

/// What `-w` prints after a transfer: text with variables, by curl's names.
struct WriteOut: Equatable, Sendable {
    enum Variable: String, CaseIterable, Sendable {
        case contentType = "content_type"
        case status = "http_code"
        case redirects = "num_redirects"
        case address = "remote_ip"
        case size = "size_download"
        case secured = "time_appconnect"
        case connected = "time_connect"
        case resolved = "time_namelookup"
        case prepared = "time_pretransfer"
        case redirected = "time_redirect"
        case answered = "time_starttransfer"
        case whole = "time_total"
        case url = "url_effective"

        static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }

    private enum Part: Equatable {
        case text(String)
        case variable(Variable)
    }

    private let parts: [Part]

    /// Throws for a variable that is not known.
    init(_ format: String) throws(UsageError) {
        if format.hasPrefix("@") {
            throw UsageError(description: "-w reads no file; give the format itself, such as \"$(cat FILE)\"")
        }
        var (parts, text, rest) = ([Part](), "", format.unicodeScalars[...])
        while let scalar = rest.popFirst() {
            switch (scalar, rest.first) {
            case ("\\", "n"), ("\\", "t"), ("\\", "r"):
                text += ["n": "\n", "t": "\t", "r": "\r"][rest.removeFirst()] ?? ""
            case ("%", "%"): text.unicodeScalars.append(rest.removeFirst())
            case ("%", _):
                let name = rest.prefix { ("a"..."z").contains($0) }
                guard rest[name.endIndex...].first == "{" else {
                    text += "%"
                    continue
                }
                let inside = rest[name.endIndex...].dropFirst().prefix { $0 != "}" }
                guard name.isEmpty, let variable = Variable(rawValue: String(inside)),
                    inside.endIndex < rest.endIndex
                else { throw Self.unknown(String(name) + "{" + String(inside)) }
                parts += [.text(text), .variable(variable)]
                (text, rest) = ("", rest[inside.endIndex...].dropFirst())
            default: text.unicodeScalars.append(scalar)
            }
        }
        self.parts = parts + [.text(text)]
    }

    private static func unknown(_ variable: String) -> UsageError {
        UsageError(description: "-w does not know %\(variable)}; it knows \(Variable.names)")
    }

    func text(of facts: TransferFacts) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            // A server has chosen some of them.
            case .variable(let variable): VisibleText.of(facts[variable])
            }
        }.joined()
    }
}
