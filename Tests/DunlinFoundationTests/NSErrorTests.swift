import Dunlin
import DunlinFoundation
import DunlinReactor
import DunlinSecure
import DunlinTesting
import Foundation
import LedgerRows
import Testing

@Suite struct `NSErrors of ours` {
    private typealias Key = NetworkError.UserInfoKey
    private static let address = HTTP.SocketAddress.v4(0x7F00_0001, port: 443)

    @Test(.rows("G-9", "RQ-59"))
    func `an error's domains and keys have the names that Foundation and AFNetworking use`() {
        let table = [
            (Key.localizedDescription, NSLocalizedDescriptionKey), (Key.underlyingError, NSUnderlyingErrorKey),
            (Key.failingURL, NSURLErrorFailingURLErrorKey), (Key.failingURL, "NSErrorFailingURLKey"),
            (Key.failingURLString, "NSErrorFailingURLStringKey"),
            (Key.peerTrust, "NSURLErrorFailingURLPeerTrustErrorKey"),
            (Key.underlyingErrors, "NSMultipleUnderlyingErrorsKey"),
            (Key.response, "com.alamofire.serialization.response.error.response"),
            (Key.responseData, "com.alamofire.serialization.response.error.data"),
            (Key.requestResponse, "com.alamofire.serialization.request.error.response"),
            (NetworkError.Domain.url, NSURLErrorDomain), (NetworkError.Domain.posix, NSPOSIXErrorDomain),
            (NetworkError.Domain.responseSerialization, "com.alamofire.error.serialization.response"),
            (NetworkError.Domain.requestSerialization, "com.alamofire.error.serialization.request"),
        ]
        for (ours, theirs) in table { #expect(ours == theirs) }
    }

    /// The numbers are Foundation's own, wherever it has a name for them.
    @Test func `an error's code has the number that Foundation has for it`() {
        let table: [(NetworkError.FoundationCode, URLError.Code)] = [
            (.unknown, .unknown), (.cancelled, .cancelled), (.badURL, .badURL), (.timedOut, .timedOut),
            (.unsupportedURL, .unsupportedURL), (.cannotFindHost, .cannotFindHost),
            (.cannotConnectToHost, .cannotConnectToHost), (.connectionLost, .networkConnectionLost),
            (.tooManyRedirects, .httpTooManyRedirects), (.resourceUnavailable, .resourceUnavailable),
            (.notConnected, .notConnectedToInternet), (.badServerResponse, .badServerResponse),
            (.redirectToNonExistentLocation, .redirectToNonExistentLocation),
            (.userAuthenticationRequired, .userAuthenticationRequired), (.cannotDecodeRawData, .cannotDecodeRawData),
            (.cannotDecodeContentData, .cannotDecodeContentData),
            (.requestBodyStreamExhausted, .requestBodyStreamExhausted), (.fileDoesNotExist, .fileDoesNotExist),
            (.fileIsDirectory, .fileIsDirectory), (.noPermissionsToReadFile, .noPermissionsToReadFile),
            (.dataLengthExceedsMaximum, .dataLengthExceedsMaximum), (.secureConnectionFailed, .secureConnectionFailed),
            (.serverCertificateUntrusted, .serverCertificateUntrusted),
            (.clientCertificateRejected, .clientCertificateRejected),
            (.clientCertificateRequired, .clientCertificateRequired),
        ]
        for (ours, theirs) in table { #expect(ours.code == theirs.rawValue, "\(theirs)") }
        #expect(NetworkError.FoundationCode.clearTextRefused.code == -1022)
    }

    @Test func `the NSError of a refused response has its head, its body and its URL`() throws {
        let head = ResponseHead(status: .notFound, fields: ["X-Why": "gone"])
        let refused = NetworkError(.unacceptableStatus, "the server answered 404", response: head, body: "gone")
        let error = NSError(bridging: refused, failingURL: "https://api.test/x")
        #expect(error.domain == NetworkError.Domain.responseSerialization && error.code == -1011)
        #expect(error.localizedDescription == "Request failed: Not Found (404)")
        #expect(error.localizedFailureReason == "the server answered 404")
        #expect((error.userInfo[Key.response] as? ResponseHead)?.fields["x-why"] == "gone")
        #expect(error.userInfo[Key.responseData] as? Data == Data("gone".utf8))
        #expect(error.userInfo[Key.failingURL] as? URL == URL(string: "https://api.test/x"))
        #expect(error.userInfo[Key.failingURLString] as? String == "https://api.test/x")
    }

    @Test func `an error that knows its request has its URL under Foundation's key`() throws {
        var error = NetworkError(.timedOut, "too slow")
        error.request = .init(method: .get, url: "https://api.test/x?token=***")
        for bridged in [
            NSError(bridging: error), NSError(bridging: error, failingURL: "https://other.test"), error as NSError,
        ] {
            #expect(
                bridged.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "https://api.test/x?token=***"))
            #expect(bridged.userInfo[Key.failingURLString] as? String == "https://api.test/x?token=***")
        }
    }

    @Test func `an NSError has no key for what is missing`() {
        let error = NSError(bridging: NetworkError(.timedOut, "it took too long"))
        #expect(Set(error.userInfo.keys) == [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey])
        #expect(error.localizedDescription == "it took too long")
    }

    @Test(.rows("SM-87"), arguments: [false, true], [false, true])
    func `an untrusted server's NSError has its URL and certificates, each if it is known`(hasURL: Bool, hasPath: Bool)
        throws
    {
        let path = hasPath ? [try #require(Certificate(der: CertificateAuthority().certificate.der))] : []
        let refusal = NetworkError.TrustRefusal(.expired, host: "api.test", path: path)
        let url = hasURL ? "https://api.test/x" : nil
        let failure = HTTPSession.ServerTrustFailure(host: "api.test", refusal: refusal, failingURL: url)
        for error in [failure, NetworkError(.serverTrustFailed, "expired", underlying: failure)] as [any Error] {
            let bridged = NSError(bridging: error)
            #expect(bridged.domain == NSURLErrorDomain && bridged.code == -1202)
            #expect(bridged.localizedDescription == failure.description)
            #expect((bridged.userInfo[Key.peerTrust] as? [Certificate]) == (hasPath ? path : nil))
            #expect((bridged.userInfo[Key.failingURL] as? URL) == url.flatMap { URL(string: $0) })
            #expect((bridged.userInfo[Key.failingURLString] as? String) == url)
        }
    }

    @Test func `an NSError keeps its causes, each under the error that it caused`() throws {
        let refusal = NetworkError.TrustRefusal(.expired, host: "api.test")
        let failure = HTTPSession.ServerTrustFailure(host: "api.test", refusal: refusal)
        let inner = NetworkError(.serverTrustFailed, "inner", underlying: failure)
        let outer = NetworkError(.connectionClosed, "outer", underlying: inner)
        var chain: [NSError] = []
        var next: NSError? = NSError(bridging: outer)
        while let error = next {
            chain.append(error)
            next = error.userInfo[Key.underlyingError] as? NSError
        }
        #expect(chain.map(\.code) == [-1005, -1202, -1202, -1202])
        #expect(chain.last?.localizedDescription == refusal.description)
    }

    @Test func `a failed connection's NSError has one error for each address, in order`() throws {
        let failures = NetworkError.ConnectionFailures([
            .init(address: Self.address, errno: 111, reason: "refused"),
            .init(address: Self.address, errno: 113, reason: "no route"),
        ])
        let error = NSError(bridging: NetworkError(.connectionFailed, "nobody answers", underlying: failures))
        #expect(error.code == -1004)
        let below = try #require(error.userInfo[Key.underlyingError] as? NSError)
        #expect(below.domain == NSPOSIXErrorDomain && below.code == 111)
        let each = try #require(below.userInfo[Key.underlyingErrors] as? [NSError])
        #expect(each.map(\.code) == [111, 113])
        #expect(each.map(\.localizedDescription) == ["127.0.0.1:443: refused", "127.0.0.1:443: no route"])
        #expect(NSError(bridging: NetworkError.ConnectionFailures()).domain.hasSuffix("ConnectionFailures"))
    }

    @Test func `an NSError can be made of any error`() {
        struct Stranger: Error {}
        let theirs = NSError(domain: "theirs", code: 7, userInfo: ["a": "b"])
        let table: [(any Error, String, Int)] = [
            (CancellationError(), NSURLErrorDomain, -999), (Errno(rawValue: 104), NSPOSIXErrorDomain, 104),
            (NetworkError(.cancelled, ""), NSURLErrorDomain, -999), (theirs, "theirs", 7),
            (URLError(.timedOut), NSURLErrorDomain, -1001),
        ]
        for (error, domain, code) in table {
            let bridged = NSError(bridging: error, failingURL: "http://api.test/")
            #expect(bridged.domain == domain && bridged.code == code, "\(error)")
            #expect(bridged.userInfo[Key.failingURLString] as? String == "http://api.test/")
        }
        #expect(NSError(bridging: theirs).userInfo["a"] as? String == "b")
        #expect(NSError(bridging: Stranger()).domain.hasSuffix("Stranger"))
        #expect(NSError(bridging: NetworkError(.timedOut, ""), failingURL: "").userInfo[Key.failingURL] == nil)
    }

    /// What `as` alone can do.
    @Test(.rows("G-9")) func `a cast error has the same code and description as a bridged one`() {
        let refused = NetworkError(.unacceptableStatus, "", response: ResponseHead(status: .notFound))
        let cast = (refused as any Error) as NSError
        #expect(cast.domain == NSURLErrorDomain && cast.code == -1011)
        #expect(cast.localizedDescription == "Request failed: Not Found (404)")
        #expect((refused as any Error).localizedDescription == "Request failed: Not Found (404)")
        let failure = HTTPSession.ServerTrustFailure(
            host: "a.test", refusal: NetworkError.TrustRefusal(.expired, host: "a.test"))
        #expect(((failure as any Error) as NSError).code == -1202)
    }
}
