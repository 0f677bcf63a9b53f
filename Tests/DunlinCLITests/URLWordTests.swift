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
        ("a.test/\u{E9}?\u{FC}=\u{20AC}#\u{1F426}", "https://a.test/%C3%A9?%C3%BC=%E2%82%AC#%F0%9F%90%A6"),
        ("b\u{FC}cher.test/\u{FC}", "https://b\u{FC}cher.test/%C3%BC"),
        ("\u{FC}:\u{E4}@b\u{FC}cher.test", "https://%C3%BC:%C3%A4@b\u{FC}cher.test"),
        ("a:p@ss@b.test/@", "https://a:p%40ss@b.test/@"), ("http://a@b@c.test?@", "http://a%40b@c.test?@"),
        (":8080/\u{FC}", "http://localhost:8080/%C3%BC"), ("a.test?@\u{FC}", "https://a.test?@%C3%BC"),
    ])
    func `a word becomes a URL`(word: String, url: String) throws {
        #expect(try URLWord.url(of: word) == url)
    }

    @Test(arguments: [
        ("", "a URL is needed; the one given is empty"),
        ("/x", "\"/x\" names no host; a URL begins with one, or with : for this machine"),
        ("ftp://a.test", "\"ftp://a.test\": the scheme is neither http nor https"),
        ("a b", "\"https://a b\": a URL has no spaces; write one as %20"),
        ("a.test:", nil), ("a.test:x", "\"https://a.test:x\": the port is not a number from 1 to 65535"),
        (":x", "\"http://localhost:x\": the port is not a number from 1 to 65535"),
        ("a.test:70000", "\"https://a.test:70000\": the port is not a number from 1 to 65535"),
        ("::1", "an IPv6 address stands in brackets, such as [::1]"),
        ("a.test/b c", "\"https://a.test/b c\": a URL has no spaces; write one as %20"),
        ("http://", "\"http://\": the URL names no host"),
        (
            "a.test/%zz",
            "\"https://a.test/%zz\": a % is not followed by two hexadecimal digits; write a literal % as %25"
        ),
        ("me:secret@a b", "\"https://***@a b\": a URL has no spaces; write one as %20"),
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
