internal import Dunlin
internal import DunlinInflate
internal import DunlinReactor
internal import DunlinSemantics
internal import FoundationEssentials

/// Makes entries of drafts, without their secrets.
struct EntryMaker: Sendable {
    let secretFields: HTTP.SecretFields
    /// How many bytes of each body are written; nil for none.
    let bodyLimit: Int?

    func entry(of draft: Draft) -> HAR.Entry {
        let redaction = Redaction(secret: secretFields.union(draft.task.secretFields.more))
        let request = request(of: draft, redaction)
        let response = response(of: draft, redaction)
        var entry = HAR.Entry(at: draft.date, request, response, Self.timings(of: draft.hop))
        if let hop = draft.hop, hop.connection != 0 {
            entry.connection = "\(hop.connection)"
            entry.serverIPAddress = hop.proxy == nil ? hop.peer?.host : nil
        }
        entry.requestID = Int(clamping: draft.task.id.rawValue)
        (entry.exchange, entry.attempt, entry.fromCache) = (draft.exchange, draft.attempt, draft.fromCache)
        return entry
    }

    // MARK: - The request

    private func request(of draft: Draft, _ redaction: Redaction) -> HAR.Request {
        let head = draft.request?.head ?? draft.head
        let url = redaction.url(head.origin.description + head.target)
        var request = HAR.Request("\(head.method)", url)
        var fields = head.fields
        if !fields.contains("Host") {
            var host: Fields = ["Host": head.origin.authority]
            host.append(contentsOf: fields)
            fields = host
        }
        request.headers = redaction.fields(fields)
        request.cookies = fields.values(of: "Cookie").flatMap { Redaction.pairs(of: $0[...], separator: ";") }.map {
            HAR.Cookie(Self.trimmed($0.name), Redaction.mark)
        }
        request.queryString = Self.query(of: url)
        guard let body = draft.request?.body, !body.isNone else {
            request.bodySize = 0
            return request
        }
        let type = fields["Content-Type"] ?? body.contentType ?? ""
        let (bytes, count) = content(of: body, draft)
        request.bodySize = draft.hop.map(\.requestBodyBytes) ?? count ?? -1
        request.postData = postData(bytes, count, type, fields["Content-Encoding"] ?? body.contentEncoding, redaction)
        return request
    }

    /// What is kept of a request's body, and how long it is.
    private func content(of body: RequestBody, _ draft: Draft) -> (Bytes?, Int?) {
        switch body.content {
        case .none: (.empty, 0)
        case .bytes(let bytes): (bodyLimit.map { bytes[0..<min($0, bytes.count)] }, bytes.count)
        case .stream(let length, _, _): (bodyLimit == nil ? nil : draft.sent.bytes, length ?? draft.sent.count)
        case .file(let file): Self.content(of: file, bodyLimit)
        }
    }

    private static func content(of file: RequestBody.File, _ limit: Int?) -> (Bytes?, Int?) {
        do {
            let source = try FileSource(file)
            guard let limit else { return (nil, source.length) }
            let bytes = try source.file.read(at: source.range.lowerBound, upTo: min(limit, source.length))
            return (Bytes(bytes), source.length)
        } catch {
            // It has gone since.
            return (nil, nil)
        }
    }

    private func postData(
        _ bytes: Bytes?, _ count: Int?, _ type: String, _ coding: String?, _ redaction: Redaction
    ) -> HAR.PostData {
        var data = HAR.PostData(type)
        guard let bytes else { return data }
        let (plain, _, comment) = Self.decoded(
            bytes, coding.map { [$0] } ?? [], isWhole: bytes.count == count, bodyLimit)
        data.comment = comment
        if let text = String(validating: plain) {
            let shown = redaction.body(text, type)
            data.text = shown
            if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
                data.params = Redaction.pairs(of: shown[...], separator: "&").map { pair in
                    HAR.Parameter(pair.meaning, pair.value.map { PercentEncoding.meaning(ofQueryPart: $0[...]) })
                }
            }
        } else {
            (data.text, data.encoding) = (Data(plain).base64EncodedString(), "base64")
        }
        return data
    }

    // MARK: - The response

    private func response(of draft: Draft, _ redaction: Redaction) -> HAR.Response {
        var response = HAR.Response(draft.response.map { Int($0.status.code) } ?? 0)
        if let error = draft.error { response.error = (error as? NetworkError)?.code.rawValue ?? "\(type(of: error))" }
        guard let head = draft.response else { return response }
        response.statusText = head.reason.isEmpty ? head.status.phrase : String(head.reason)
        response.httpVersion = head.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
        response.headers = redaction.fields(head.fields)
        response.redirectURL = head.fields["Location"].map { redaction.url($0) } ?? ""
        response.cookies = head.fields.rawValues(of: "Set-Cookie").compactMap { SetCookie($0, at: 0) }.map { set in
            var cookie = HAR.Cookie(set.name, Redaction.mark)
            (cookie.path, cookie.domain) = (set.path, set.domain)
            (cookie.httpOnly, cookie.secure) = (set.isHTTPOnly, set.isSecure)
            return cookie
        }
        response.bodySize = draft.hop?.bodyBytes ?? draft.received.count
        response.content = content(draft.received, draft.hop, head.fields, redaction)
        return response
    }

    private func content(
        _ body: Draft.Body, _ hop: HTTP.Hop?, _ fields: Fields, _ redaction: Redaction
    ) -> HAR.Content {
        var content = HAR.Content()
        let type = fields["Content-Type"] ?? ""
        content.mimeType = type
        guard bodyLimit != nil, body.count > 0 else {
            // Without bodies only the hop knows how many bytes came.
            content.size = max(body.count, hop?.bodyBytes ?? 0)
            return content
        }
        content.size = body.count
        let codings = fields.values(of: "Content-Encoding")
        let (bytes, isCoded, comment) = Self.decoded(body.bytes, codings, isWhole: body.isWhole, bodyLimit)
        content.comment = comment
        if isCoded { content.isCoded = true }
        if !body.isWhole { content.isCut = true }
        if comment == nil {
            content.size = bytes.count
            if !codings.isEmpty { content.compression = bytes.count - body.count }
        }
        if let text = String(validating: bytes) {
            content.text = redaction.body(text, type)
        } else {
            (content.text, content.encoding) = (Data(bytes).base64EncodedString(), "base64")
        }
        return content
    }

    // MARK: - Parts of both

    /// The bytes without content codings, and what is not as it should be.
    private static func decoded(
        _ bytes: Bytes, _ codings: [String], isWhole: Bool, _ limit: Int?
    ) -> (Bytes, isCoded: Bool, comment: String?) {
        let cut = isWhole ? nil : "only the first \(bytes.count) bytes were recorded"
        guard !codings.isEmpty, isWhole else { return (bytes, !codings.isEmpty, cut) }
        do {
            guard let chain = try ContentCodecs.known.chain(codings) else {
                return (bytes, true, "the content coding is not known")
            }
            var limits = InflateLimits()
            limits.decodedBytes = limit
            var decoder = try ContentDecoder(chain, limits: limits)
            var pieces: [UInt8] = []
            decoder.feed(bytes)
            while let piece = try decoder.next() { pieces += piece.array }
            try decoder.finish()
            return (Bytes(pieces), false, nil)
        } catch {
            return (bytes, true, "the content coding was left: \(error)")
        }
    }

    private static func query(of url: String) -> [HAR.NameValue] {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = url[url.utf8.index(after: mark)...]
        return Redaction.pairs(of: query, separator: "&").map { pair in
            HAR.NameValue(pair.meaning, PercentEncoding.meaning(ofQueryPart: (pair.value ?? "")[...]))
        }
    }

    private static func trimmed(_ text: String) -> String { String(text.drop { $0 == " " }) }

    private static func timings(of hop: HTTP.Hop?) -> HAR.Timings {
        var timings = HAR.Timings()
        guard let hop else { return timings }
        func milliseconds(_ phases: HTTP.Phase...) -> Double? {
            let spent = phases.compactMap { hop.duration(of: $0) }
            return spent.isEmpty ? nil : (spent.reduce(.zero, +) / .microseconds(1)).rounded() / 1000
        }
        timings.blocked = milliseconds(.pool) ?? -1
        timings.dns = milliseconds(.resolve) ?? -1
        timings.connect = milliseconds(.connect, .proxyTLS, .tunnel, .tls) ?? -1
        timings.ssl = milliseconds(.proxyTLS, .tls) ?? -1
        timings.send = milliseconds(.send) ?? 0
        timings.wait = milliseconds(.firstByte) ?? 0
        timings.receive = milliseconds(.receive) ?? 0
        return timings
    }
}

extension String {
    /// Nil if the bytes are no UTF-8.
    init?(validating bytes: Bytes) {
        guard let text = String(validating: bytes.array, as: UTF8.self) else { return nil }
        self = text
    }
}
