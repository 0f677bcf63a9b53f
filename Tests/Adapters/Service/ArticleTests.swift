import Articles
import Dunlin
import DunlinService
import Logging
import ServiceLifecycle
import Testing
import UnixSignals

@Suite struct `The article on services` {
    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "Service")
        #expect(article.parts.count == 2)
        #expect(article.blocksWithoutCode() == [])
    }

    @Test func `The manifest names the products, the trait and the oldest version that is tested`() throws {
        let missing = try Article(on: "Service").missingInManifest(
            trait: "ServiceLifecycle", product: "ServiceLifecycle", of: "swift-server/swift-service-lifecycle")
        #expect(missing == [])
    }

    /// What the article shows, compiled.
    private func snippets(_ client: HTTPSession, _ server: some Service, _ logger: Logger) async throws {
        let group = ServiceGroup(
            services: [client.service(grace: .seconds(20)), server],
            gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        try await group.run()
    }
}
