import DunlinCommandLine
import Testing

/// URLs as people type them.
@Suite struct URLWordTests {
    @Test(arguments: [
        ("a.test", "https://a.test"), ("a.test/b?c=d#e", "https://a.test/b?c=d#e"),
        ("a.test:8443", "https://a.test:8443"),
        ("A.TEST", "https://A.TEST"), ("fly", "https://fly"), ("me:secret@a.test", "https://me:secret@a.test"),
        ("http://a.test", "http://a.test"), ("HTTPS://a.test/", "HTTPS://a.test/"),
        ("https://localhost", "https://localhost"),
        ("a.test?u=http://b.test", "https://a.test?u=http://b.test"), ("a.test/http://b", "https://a.test/http://b"),
        ("localhost", "http://localhost"), ("LocalHost:80/x", "http://LocalHost:80/x"),
        ("api.localhost", "http://api.localhost"), ("localhost.", "http://localhost."),
        ("localhost.test", "https://localhost.test"), ("notlocalhost", "https://notlocalhost"),
        ("localhost@a.test", "https://localhost@a.test"), ("a@localhost", "http://a@localhost"),
        ("127.0.0.1", "http://127.0.0.1"), ("127.8.9.1:8080/x", "http://127.8.9.1:8080/x"),
        ("128.0.0.1", "https://128.0.0.1"), ("127.0.0.1.test", "https://127.0.0.1.test"),
        ("[::1]", "http://[::1]"), ("[0:0:0:0:0:0:0:1]:9/", "http://[0:0:0:0:0:0:0:1]:9/"), ("[::2]", "https://[::2]"),
        (":8080", "http://localhost:8080"), (":8080/x?y", "http://localhost:8080/x?y"), (":/x", "http://localhost/x"),
    ])
    func `a word becomes a URL`(word: String, url: String) throws {
        #expect(try URLWord.url(of: word) == url)
    }

    @Test(arguments: [
        ("", "a URL is needed; the one given is empty"),
        ("/x", "\"/x\" names no host; a URL begins with one, or with : for this machine"),
        ("ftp://a.test", "\"ftp://a.test\": the scheme is neither http nor https"),
        ("a b", "\"https://a b\": the host is not a valid name"),
        ("a.test:", nil), ("a.test:x", "\"https://a.test:x\": the port is not a number from 1 to 65535"),
        (":x", "\"http://localhost:x\": the port is not a number from 1 to 65535"),
        ("a.test:70000", "\"https://a.test:70000\": the port is not a number from 1 to 65535"),
        ("::1", "an IPv6 address stands in brackets, such as [::1]"),
        ("http://", "\"http://\": the URL names no host"),
        (
            "a.test/%zz",
            "\"https://a.test/%zz\": a % is not followed by two hexadecimal digits; write a literal % as %25"
        ),
        ("me:secret@a b", "\"https://***@a b\": the host is not a valid name"),
    ])
    func `a word that is no URL is refused with the reason, and without its password`(
        word: String, expected: String?
    ) throws {
        guard let expected else {
            _ = try URLWord.url(of: word)
            return
        }
        #expect(throws: UsageError(description: expected)) { try URLWord.url(of: word) }
    }
}
