import Testing

@testable import DunlinImages

@Suite struct `URLs that are shown` {
    @Test(arguments: [
        ("https://a.test/b?c=d#e", "https://a.test/b"), ("https://u:p@a.test/b@2x.png", "https://a.test/b@2x.png"),
        ("https://a.test:80/b@2x.png", "https://a.test:80/b@2x.png"), ("https://[::1]/b@2x", "https://[::1]/b@2x"),
        ("https://u:p/q@a.test/b", "https://***@a.test/b"), ("https://u:p#q@a.test/b", "https://***@a.test/b"),
        ("//u:p@a.test/b", "//a.test/b"), ("b/c?d", "b/c"),
        ("https://a.test/\u{1B}[31m", "https://a.test/[31m"),
    ]) func `a URL is shown without what is secret, and without what a terminal obeys`(url: String, shown: String) {
        #expect(ShownURL.of(url) == shown)
    }
}
