internal import Dunlin
internal import DunlinReactor
internal import DunlinSemantics
internal import FoundationEssentials

/// Makes entries of drafts, without their secrets.
struct EntryMaker: Sendable {
    let secretFields: HTTP.SecretFields
    /// The names that the head of the archive has. An entry has the others.
    let namesOfAll: Set<String>
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
        if !draft.interim.isEmpty {
            entry.interim = draft.interim.map { HAR.Interim(Int($0.status.code), redaction.fields($0.fields)) }
        }
        let names = redaction.secret.more.subtracting(namesOfAll)
        if !names.isEmpty { entry.secretNames = names.sorted() }
        return entry
    }

    // MARK: - The request

    private func request(of draft: Draft, _ redaction: Redaction) -> HAR.Request {
        let head = draft.head
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
            // Without a sign it is the value of a cookie without a name.
            HAR.Cookie($0.value == nil ? "" : Self.trimmed($0.name), Redaction.mark)
        }
        request.queryString = Self.query(of: url)
        if let hop = draft.hop, !draft.isStreamed, hop.bytesSent > hop.requestBodyBytes {
            request.headersSize = hop.bytesSent - hop.requestBodyBytes
        }
        guard draft.hasBody else {
            request.bodySize = 0
            return request
        }
        let (kept, count) = draft.file.map { contents(of: $0) } ?? (draft.sent.kept, draft.sent.count)
        request.bodySize = draft.hop?.requestBodyBytes ?? count
        let coding = fields["Content-Encoding"] ?? draft.contentEncoding
        request.postData = postData(
            kept, isWhole: kept.count == count && !(draft.isStreamed && draft.error != nil),
            fields["Content-Type"] ?? draft.contentType ?? "",
            coding.map { [$0] } ?? [], redaction)
        return request
    }

    /// What is kept of a file, as it is now, and how long it is.
    private func contents(of file: RequestBody.File) -> ([UInt8], Int) {
        do {
            let source = try FileSource(file)
            let bytes = try source.file.read(at: source.range.lowerBound, upTo: min(bodyLimit ?? 0, source.length))
            return (bytes, source.length)
        } catch {
            // It has gone since.
            return ([], -1)
        }
    }

    private func postData(
        _ kept: [UInt8], isWhole: Bool, _ type: String, _ codings: [String], _ redaction: Redaction
    ) -> HAR.PostData {
        var data = HAR.PostData(redaction.value(type, of: "Content-Type"))
        guard let bodyLimit else { return data }
        let body = BodyText(kept, isWhole: isWhole, codings, type, limit: bodyLimit, redaction)
        (data.text, data.encoding, data.comment) = (body.text, body.encoding, body.comment)
        if body.isCut { data.isCut = true }
        if let text = body.text, type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
            data.params = Redaction.pairs(of: text[...], separator: "&").map { pair in
                HAR.Parameter(pair.meaning, pair.value.map { PercentEncoding.meaning(ofQueryPart: $0[...]) })
            }
        }
        return data
    }

    // MARK: - The response

    private func response(of draft: Draft, _ redaction: Redaction) -> HAR.Response {
        var response = HAR.Response(draft.response.map { Int($0.status.code) } ?? 0)
        if let error = draft.error { note(error, &response) }
        guard let head = draft.response else { return response }
        response.statusText = head.reason.isEmpty ? head.status.phrase : String(head.reason)
        response.httpVersion = head.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
        response.headers = redaction.fields(head.fields)
        // An answer of the cache has not come over the wire.
        if draft.fromCache == nil { response.headersSize = Self.size(of: head) }
        response.redirectURL = head.fields["Location"].map { redaction.value(redaction.url($0), of: "Location") } ?? ""
        response.cookies = head.fields.rawValues(of: "Set-Cookie").compactMap { SetCookie($0, at: 0) }.map { set in
            var cookie = HAR.Cookie(set.name, Redaction.mark)
            (cookie.path, cookie.domain) = (set.path, set.domain)
            (cookie.httpOnly, cookie.secure) = (set.isHTTPOnly, set.isSecure)
            return cookie
        }
        response.bodySize = draft.hop?.bodyBytes ?? draft.received.count
        response.content = content(draft, head, redaction)
        return response
    }

    private func note(_ error: any Error, _ response: inout HAR.Response) {
        guard let error = error as? NetworkError else {
            response.error = error is CancellationError ? NetworkError.Code.cancelled.rawValue : "\(type(of: error))"
            return
        }
        (response.error, response.errorPhase) = (error.code.rawValue, error.phase?.rawValue)
        (response.isUnsent, response.isSafeToRetry) = (!error.requestMayHaveBeenSent, error.isSafeToRetry)
    }

    private func content(_ draft: Draft, _ head: ResponseHead, _ redaction: Redaction) -> HAR.Content {
        let (received, fields) = (draft.received, head.fields)
        var content = HAR.Content()
        let type = fields["Content-Type"] ?? ""
        content.mimeType = redaction.value(type, of: "Content-Type")
        // Without bodies only the hop knows how many bytes came.
        content.size = max(received.count, draft.hop?.bodyBytes ?? 0)
        // What comes after a 101 is no body.
        guard let bodyLimit, received.count > 0, head.status != .switchingProtocols else { return content }
        let codings = fields.values(of: "Content-Encoding")
        let body = BodyText(
            received.kept, isWhole: received.isWhole && draft.error == nil, codings, type, limit: bodyLimit, redaction)
        (content.text, content.encoding, content.comment) = (body.text, body.encoding, body.comment)
        if body.isCut {
            content.isCut = true
        } else {
            content.size = body.count
            if !codings.isEmpty { content.compression = body.count - received.count }
        }
        return content
    }

    // MARK: - Parts of both

    /// The bytes of a head: the status line, a line for each field, and the empty line.
    private static func size(of head: ResponseHead) -> Int {
        head.fields.raw.reduce("HTTP/1.1 200 \r\n\r\n".utf8.count + head.reason.count) { size, field in
            size + field.name.count + field.value.count + ": \r\n".utf8.count
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
