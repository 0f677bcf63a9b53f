/// How a session reads content, if its configuration says so.
@usableFromInline package final class ContentSettings: Sendable {
    package let json: HTTP.JSON
    /// The types accepted in addition to those that each serializer expects.
    let contentTypes: HTTP.ContentTypes
    package let statuses: HTTP.StatusSet

    package init(json: HTTP.JSON, accepting contentTypes: HTTP.ContentTypes, _ statuses: HTTP.StatusSet) {
        self.json = json
        self.contentTypes = contentTypes
        self.statuses = statuses
    }

    /// The given way of reading JSON, or else the session's. No error shows what is secret for the session.
    package func json(insteadOf own: HTTP.JSON?) -> HTTP.JSON {
        guard var own else { return json }
        own.secretFields = json.secretFields
        return own
    }
}
