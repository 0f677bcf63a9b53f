internal import DunlinSemantics

extension HTTPSession.Response {
    /// The response's links (RFC 8288): `response.links["next"]` is the target of the next page.
    public var links: HTTP.Links { HTTP.Links(fields, from: url) }
}

extension HTTPSession.StreamedResponse {
    /// The response's links (RFC 8288).
    public var links: HTTP.Links { HTTP.Links(fields, from: url) }
}

extension HTTPSession.Response: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A line with status, URL, content type, length and time.
    public var description: String {
        var details = [mediaType, "\(body.count) bytes"].compactMap(\.self)
        if !metrics.hops.isEmpty { details.append("\(metrics.total)") }
        return VisibleText.of("\(status) \(status.phrase) \(shownURL) (\(details.joined(separator: ", ")))")
    }

    public var debugDescription: String { description }

    private var shownURL: String { WebAddress.named(url, hiding: carried.secretFields) }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["status": status, "url": shownURL, "fields": fields, "value": value],
            displayStyle: .struct)
    }
}

extension HTTPSession.StreamedResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A line with status, URL and content type.
    public var description: String {
        let type = head.mediaType.map { " (\($0))" } ?? ""
        return VisibleText.of("\(status) \(status.phrase) \(shownURL)\(type)")
    }

    public var debugDescription: String { description }

    private var shownURL: String { WebAddress.named(url, hiding: secretFields) }

    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "url": shownURL, "fields": fields], displayStyle: .struct)
    }
}
