internal import DunlinSemantics
internal import DunlinWire

/// Turns what a caller said into the request that goes out: base, defaults and options taken together.
///
/// Made once for a session and never changed, its rule about clear text aside; requests share it without a lock.
final class RequestBuilder: Sendable {
    private let base: WebAddress?
    private let fields: Fields
    /// The fields again, ready for requests that add none.
    private let prepared: PreparedFields?
    private let routes: Routes?
    let clearText: ClearTextRule

    init(_ configuration: HTTPSession.Configuration) throws {
        try configuration.validate()
        do throws(AddressError) {
            if let url = configuration.baseURL { base = try WebAddress(base: url) } else { base = nil }
        } catch {
            throw NetworkError(.invalidConfiguration, "the base URL cannot be used", underlying: error)
        }
        do throws(WireError) {
            prepared = try RequestEncoder.prepare(configuration.fields)
        } catch {
            throw NetworkError(.invalidConfiguration, "a default field cannot be sent", underlying: error)
        }
        fields = configuration.fields
        clearText = ClearTextRule(configuration.tls.policy)
        routes = try Routes.of(configuration, base: base?.origin)
    }

    /// The head to send. `accept` and the body's content type count unless the caller's fields say otherwise.
    func head(
        _ method: Method, _ target: HTTPSession.Target, _ query: HTTPSession.Query, _ body: borrowing RequestBody,
        _ own: Fields, _ accept: String?, expectsContinue: Bool = false
    ) throws -> RequestHead {
        if let refused = target.refused {
            throw NetworkError(.invalidRequest, "\"\(refused)\" may not be a segment of \(target.template)")
        }
        var (origin, path) = try resolve(target)
        try clearText.check(origin)
        if !query.isEmpty {
            path += (path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.encoded
        }
        if let routes { origin = routes.routed(origin) }
        if let prepared, own.isEmpty, accept == nil, !expectsContinue, !Self.hasFields(body) {
            return RequestHead(method: method, origin: origin, target: path, prepared: prepared)
        }
        let fields = fields(own, body, accept, expectsContinue)
        return RequestHead(method: method, origin: origin, target: path, fields: fields)
    }

    private static func hasFields(_ body: borrowing RequestBody) -> Bool {
        body.contentType != nil || body.trailers != nil
    }

    private func fields(
        _ own: Fields, _ body: borrowing RequestBody, _ accept: String?, _ expectsContinue: Bool
    ) -> Fields {
        var merged = fields.overlaid(with: own)
        if let coding = body.contentEncoding { merged["Content-Encoding"] = coding }
        if let accept, !own.contains("accept") { merged["Accept"] = accept }
        if let contentType = body.contentType, !merged.contains("content-type") {
            merged.append("Content-Type", contentType)
        }
        if let names = body.trailers?.names, !names.isEmpty, !merged.contains("trailer") {
            merged.append("Trailer", names.joined(separator: ", "))
        }
        // An expectation without a body is a mistake (RFC 9110 §10.1.1).
        if expectsContinue, body.mayHaveContent, !merged.contains("expect") {
            merged.append("Expect", "100-continue")
        }
        return merged
    }

    private func resolve(_ target: HTTPSession.Target) throws -> (Origin, String) {
        do throws(AddressError) {
            if let resolved = try base?.target(for: target.text) { return resolved }
            let address = try WebAddress(target.text)
            return (address.origin, address.target)
        } catch {
            let code: NetworkError.Code = error.problem == .unsupportedScheme ? .unsupportedScheme : .invalidRequest
            throw NetworkError(code, "the request has no usable URL", underlying: error)
        }
    }
}
