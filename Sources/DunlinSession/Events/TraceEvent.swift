internal import DunlinSemantics

extension HTTPSession {
    /// An event of a trace: something that a session's requests sent or received.
    ///
    /// Its description is for a terminal: `#3 > GET /users/42 HTTP/1.1`, with a line for each field, and `>` for sent,
    /// `<` for received, and `*` for anything else. Secret fields, and query values whose names look secret, are not
    /// shown; bodies are shown unchanged.
    public enum TraceEvent: Sendable {
        case step(HTTP.WireStep, of: TaskSnapshot)
        /// This number of events is missing here, because nobody read them in time.
        case lost(Int)
    }
}

extension HTTPSession.TraceEvent: CustomStringConvertible, CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }

    public var description: String { lines.map(\.description).joined(separator: "\n") }

    /// A line of the description, in parts that may be shown in different styles.
    package struct Line: Sendable, CustomStringConvertible {
        package enum Kind: Sendable {
            case request
            case status(HTTP.Status)
            /// A field; the text after its name follows.
            case field(name: String)
            case failure
            case remark
        }

        /// The request's number and the direction, such as `#3 > `.
        package let start: String
        package let kind: Kind
        package let text: String

        package var description: String {
            if case .field(let name) = kind { start + name + text } else { start + text }
        }
    }

    package var lines: [Line] {
        switch self {
        case .lost(let count):
            [Line(start: "* ", kind: .remark, text: "\(count) events were lost: they were not read in time")]
        case .step(let step, let task):
            step.lines(hiding: task.secretFields).map { mark, kind, text in
                Line(start: "\(task.id) \(mark) ", kind: kind, text: text)
            }
        }
    }
}

extension HTTP.WireStep {
    /// Its lines without what a trace begins them with.
    package func traceLines(hiding secret: HTTP.SecretFields) -> [HTTPSession.TraceEvent.Line] {
        lines(hiding: secret).map { HTTPSession.TraceEvent.Line(start: "", kind: $1, text: $2) }
    }

    fileprivate typealias Line = (mark: String, kind: HTTPSession.TraceEvent.Line.Kind, text: String)

    fileprivate func lines(hiding secret: HTTP.SecretFields) -> [Line] {
        switch self {
        case .connected(let number, let address, let security, let isReused):
            let destination = address.map { " to \($0)" } ?? ""
            let tls = security.map { ", \($0.version), \($0.cipher)" } ?? ""
            return Self.remark("connection \(number)\(destination) \(isReused ? "is used again" : "is new")\(tls)")
        case .requestHead(let head):
            let target = WebAddress.named(head.target, hiding: secret)
            let first = VisibleText.of("\(head.method) \(target) HTTP/1.1")
            return [(">", .request, first)] + Self.lines(">", head.fields, secret)
        case .requestSent(let count): return Self.remark("\(count) bytes sent")
        case .interimHead(let head), .responseHead(let head):
            let version = head.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
            let reason = head.reason.isEmpty ? "" : " " + VisibleText.of(String(head.reason))
            return [("<", .status(head.status), "\(version) \(head.status)\(reason)")]
                + Self.lines("<", head.fields, secret)
        case .responseEnd(let count, let trailers):
            let trailers = trailers.isEmpty ? [] : [("<", .remark, "(trailers)")] + Self.lines("<", trailers, secret)
            return trailers + Self.remark("response complete, \(count) bytes of body")
        case .responseLeft(let count):
            return Self.remark("response not read to its end: \(count) bytes of body received")
        case .sent(let bytes, let count): return Self.dump(">", bytes, of: count)
        case .received(let bytes, let count): return Self.dump("<", bytes, of: count)
        case .failed(let error):
            return [("!", .failure, VisibleText.of((error as? NetworkError)?.summary ?? "\(error)"))]
        }
    }

    private static func remark(_ text: String) -> [Line] { [("*", .remark, VisibleText.of(text))] }

    private static func lines(_ mark: String, _ fields: Fields, _ secret: HTTP.SecretFields) -> [Line] {
        fields.shown(hiding: secret).map { (mark, .field(name: $0.name), ": \($0.value)") }
    }

    /// The bytes, sixteen to a line, in hexadecimal and as text.
    private static func dump(_ mark: String, _ bytes: Bytes, of count: Int) -> [Line] {
        var lines: [Line] = []
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let row = bytes[start..<min(start + 16, bytes.count)]
            let hex = row.map { Hex.text($0, count: 2) }.joined(separator: " ")
            let text = String(decoding: row.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            let blanks = String(repeating: " ", count: 49 - hex.count)
            lines.append((mark, .remark, "\(Hex.text(UInt(start), count: 4))  \(hex)\(blanks)\(text)"))
        }
        if count > bytes.count { lines.append((mark, .remark, "and \(count - bytes.count) bytes more")) }
        return lines
    }
}
