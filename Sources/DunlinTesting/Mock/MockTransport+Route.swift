public import Dunlin
public import DunlinTypes

extension MockTransport {
    /// A route, which collects the outcomes for one method and path, in order.
    public struct Route: Sendable {
        let transport: MockTransport
        let index: Int
        /// The delay before the next outcome.
        var delay: Duration

        /// Adds an outcome.
        @discardableResult
        public func reply(_ outcome: Outcome) -> Route {
            transport.add(delay > .zero ? outcome.delayed(delay) : outcome, to: index)
            return Route(transport: transport, index: index, delay: .zero)
        }

        /// Delays the next outcome, on the transport's clock.
        public func delay(_ duration: Duration) -> Route {
            Route(transport: transport, index: index, delay: delay + duration)
        }

        /// Repeats the last outcome for all further requests.
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

    /// Responds with JSON of any structure: `.respond(json: ["id": 42, "name": "Ada", "tags": [1, "x", nil]])`.
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

    /// There is no answer until the request is cancelled or times out.
    @discardableResult
    public func never() -> Self { reply(.never) }
}

/// The same methods for later outcomes, so that a chain reads like a sentence.
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

    /// Delays the outcome that follows.
    public func thenDelay(_ duration: Duration) -> Self { delay(duration) }
}
