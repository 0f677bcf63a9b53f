package import DunlinTypes

/// What a cache did with a request, in the words of Cache-Status (RFC 9211).
package struct CacheStatus: Sendable, Hashable {
    /// Why a request went to the network.
    package enum Forward: String, Sendable, Hashable, CaseIterable {
        /// The cache was not to be used.
        case bypass
        /// Caches do not handle its method.
        case method
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// The stored responses for the URL are for other fields.
        case varyMiss = "vary-miss"
        /// A stored response fits, but the request does not accept it.
        case request
        /// A stored response fits, but it is stale.
        case stale
        /// A stored response fits, but is incomplete.
        case partial
    }

    package enum Handling: Sendable, Hashable {
        case hit
        case forwarded(Forward)
    }

    package var handling: Handling
    /// The status of the network's answer.
    package var forwardStatus: HTTP.Status?
    /// The seconds for which the response remains fresh; below zero if it is stale.
    package var remaining: Int64?
    package var isStored = false
    package var isCollapsed = false
    package var key: String?
    package var detail: String?

    package init(_ handling: Handling) {
        self.handling = handling
    }

    /// Returns the member of a Cache-Status field for the cache with this name.
    package func member(named name: String) -> String {
        var parameters: [String] = []
        switch handling {
        case .hit: parameters.append("hit")
        case .forwarded(let reason):
            parameters.append("fwd=\(reason.rawValue)")
            if let forwardStatus { parameters.append("fwd-status=\(forwardStatus.code)") }
        }
        if let remaining { parameters.append("ttl=\(min(max(remaining, -Self.largest), Self.largest))") }
        if handling != .hit {
            if isStored { parameters.append("stored") }
            if isCollapsed { parameters.append("collapsed") }
        }
        if let key = key.flatMap({ Self.string($0) }) { parameters.append("key=\(key)") }
        if let detail = detail.flatMap({ Self.item($0) }) { parameters.append("detail=\(detail)") }
        return ([Self.item(name) ?? "cache"] + parameters).joined(separator: "; ")
    }

    /// The largest integer (RFC 8941 §3.3.1).
    private static let largest: Int64 = 999_999_999_999_999

    /// Returns a token, or else a string; nil for text that neither can hold.
    private static func item(_ text: String) -> String? {
        guard let first = text.utf8.first, (first | 0x20) &- 0x61 < 26 || first == UInt8(ascii: "*"),
            text.utf8.allSatisfy({ TokenCharacters.contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        else { return string(text) }
        return text
    }

    private static func string(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return nil }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
