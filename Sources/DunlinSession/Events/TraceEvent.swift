internal import DunlinSemantics

extension HTTPSession {
    /// An event of a trace: something that a session's requests sent or received.
    ///
    /// Its description is for a terminal: `#3 > GET /users/42 HTTP/1.1`, with a line for each field, and `>` for sent,
    /// `<` for received, and `*` for anything else. Secret fields, and query values whose names look secret, are not
    /// shown; in the bytes of `sent` and `received`, asterisks replace them, but bodies are shown unchanged.
    public enum TraceEvent: Sendable {
        case step(HTTP.WireStep, of: TaskSnapshot)
        /// This number of events is missing here, because nobody read them in time.
        case lost(Int)
    }
}

extension HTTPSession.TraceEvent: CustomStringConvertible, CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }

    public var description: String {
        switch self {
        case .lost(let count): "* \(count) events were lost: they were not read in time"
        case .step(let step, let task):
            step.lines(hiding: task.secretFields).map { "\(task.id) \($0)" }.joined(separator: "\n")
        }
    }
}

extension HTTP.WireStep {
    fileprivate func lines(hiding secret: HTTP.SecretFields) -> [String] {
        switch self {
        case .connected(let number, let address, let security, let isReused):
            let destination = address.map { " to \($0)" } ?? ""
            let tls = security.map { ", \($0.version), \($0.cipher)" } ?? ""
            return [
                VisibleText.of("* connection \(number)\(destination) \(isReused ? "is used again" : "is new")\(tls)")
            ]
        case .requestHead(let head):
            let target = WebAddress.named(head.target, hiding: secret)
            return Self.lines(">", VisibleText.of("\(head.method) \(target) HTTP/1.1"), head.fields, secret)
        case .requestSent(let count): return ["* \(count) bytes sent"]
        case .interimHead(let head), .responseHead(let head):
            let version = head.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
            let reason = head.reason.isEmpty ? "" : " " + VisibleText.of(String(head.reason))
            return Self.lines("<", "\(version) \(head.status)\(reason)", head.fields, secret)
        case .responseEnd(let count, let trailers):
            let last = "* response complete, \(count) bytes of body"
            return trailers.isEmpty ? [last] : Self.lines("<", "(trailers)", trailers, secret) + [last]
        case .responseLeft(let count): return ["* response not read to its end: \(count) bytes of body received"]
        case .sent(let bytes, let count): return Self.dump(">", bytes, of: count)
        case .received(let bytes, let count): return Self.dump("<", bytes, of: count)
        case .failed(let error): return [VisibleText.of("! \((error as? NetworkError)?.summary ?? "\(error)")")]
        }
    }

    private static func lines(
        _ mark: String, _ first: String, _ fields: Fields, _ secret: HTTP.SecretFields
    ) -> [String] {
        ["\(mark) \(first)"] + fields.shown(hiding: secret).map { "\(mark) \($0.name): \($0.value)" }
    }

    /// The bytes, sixteen to a line, in hexadecimal and as text.
    private static func dump(_ mark: String, _ bytes: Bytes, of count: Int) -> [String] {
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let row = bytes[start..<min(start + 16, bytes.count)]
            let hex = row.map { Hex.text($0, count: 2) }.joined(separator: " ")
            let text = String(decoding: row.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            lines.append(
                "\(mark) \(Hex.text(UInt(start), count: 4))  " + hex
                    + String(repeating: " ", count: 49 - hex.count) + text)
        }
        if count > bytes.count { lines.append("\(mark) and \(count - bytes.count) bytes more") }
        return lines
    }
}
