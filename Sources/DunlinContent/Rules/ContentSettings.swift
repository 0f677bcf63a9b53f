/// How a session reads content, where its users have said so.
@usableFromInline package final class ContentSettings: Sendable {
    package let json: HTTP.JSON

    package init(json: HTTP.JSON) {
        self.json = json
    }
}
