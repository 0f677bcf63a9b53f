public import Dunlin
public import DunlinTypes

extension MockTransport {
    /// Takes the outcomes for one method and path, in the order in which they are said.
    public struct Route: Sendable {
        let transport: MockTransport
        let index: Int
        /// Before the next outcome.
        var delay: Duration

        /// Adds any outcome.
        @discardableResult
        public func reply(_ outcome: Outcome) -> Route {
            transport.add(delay > .zero ? outcome.delayed(delay) : outcome, to: index)
            return Route(transport: transport, index: index, delay: .zero)
        }

        /// Puts the next outcome off, on the transport's clock.
        public func delay(_ duration: Duration) -> Route {
            Route(transport: transport, index: index, delay: delay + duration)
        }

        /// The last outcome said so far is used again and again.
        @discardableResult
        public func always() -> Route {
            transport.repeatLast(of: index)
            return self
        }
    }
}

extension MockTransport.Route {
    @discardableResult
    public func respond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), body: Bytes = .empty) -> Self {
        reply(.respond(status, fields: fields, body: body))
    }

    @discardableResult @_disfavoredOverload
    public func respond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: some Encodable) -> Self {
        reply(.respond(status, fields: fields, json: value))
    }

    /// JSON of any structure: `.respond(json: ["id": 42, "name": "Ada", "tags": [1, "x", nil]])`.
    @discardableResult
    public func respond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: DynamicValue) -> Self {
        reply(.respond(status, fields: fields, json: value))
    }

    @discardableResult
    public func stream(_ pieces: [Bytes], fields: Fields = Fields(), length: Int? = nil) -> Self {
        reply(.stream(pieces, fields: fields, length: length))
    }

    @discardableResult
    public func fail(_ failure: MockTransport.Failure) -> Self { reply(.fail(failure)) }

    @discardableResult
    public func fail(_ error: any Error) -> Self { reply(.fail(error)) }

    /// No answer until the request is cancelled or times out.
    @discardableResult
    public func never() -> Self { reply(.never) }
}

/// The same words for the outcomes that follow, so that a chain reads as a sentence.
extension MockTransport.Route {
    @discardableResult
    public func thenRespond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), body: Bytes = .empty) -> Self {
        respond(status, fields: fields, body: body)
    }

    @discardableResult @_disfavoredOverload
    public func thenRespond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: some Encodable) -> Self
    {
        respond(status, fields: fields, json: value)
    }

    @discardableResult
    public func thenRespond(_ status: HTTP.Status = .ok, fields: Fields = Fields(), json value: DynamicValue) -> Self {
        respond(status, fields: fields, json: value)
    }

    @discardableResult
    public func thenStream(_ pieces: [Bytes], fields: Fields = Fields(), length: Int? = nil) -> Self {
        stream(pieces, fields: fields, length: length)
    }

    @discardableResult
    public func thenFail(_ failure: MockTransport.Failure) -> Self { fail(failure) }

    @discardableResult
    public func thenFail(_ error: any Error) -> Self { fail(error) }

    /// A delay before the outcome that follows.
    public func thenDelay(_ duration: Duration) -> Self { delay(duration) }
}
