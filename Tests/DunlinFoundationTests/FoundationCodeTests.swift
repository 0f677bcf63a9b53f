import Dunlin
import DunlinFoundation
import DunlinReactor
import DunlinSecure
import Foundation
import LedgerRows
import Testing

@Suite struct `Numbers of errors` {
    private static let numbers: [(NetworkError.Code, Int)] = [
        (.invalidRequest, -1000), (.unsupportedScheme, -1002), (.nameNotResolved, -1003), (.connectionFailed, -1004),
        (.poolExhausted, -1004), (.queueFull, -1004), (.rateLimited, -1004), (.circuitOpen, -1004),
        (.connectionClosed, -1005), (.invalidResponse, -1011),
        (.upgradeRefused, -1011), (.webSocketFailed, -1011),
        (.errorEvent, -1011),
        (.invalidContent, -1015),
        (.limitExceeded, -1103), (.timedOut, -1001), (.cancelled, -999), (.bodyConsumed, -1021),
        (.bodyLengthMismatch, -1021), (.fileUnreadable, -1102), (.secureConnectionFailed, -1200),
        (.serverTrustFailed, -1202), (.clearTextRefused, -1022), (.interfaceRefused, -1020),
        (.guardRefused, -1004), (.proxyFailed, -1004), (.proxyAuthenticationFailed, -1013),
        (.unusableCredential, -1013), (.authenticationFailed, -1013), (.interceptorFailed, -1), (.notCached, -1008),
        (.cacheUnreadable, -1015), (.sentTooOften, -1007),
        (.invalidParameters, -1016), (.invalidPart, -1000), (.unacceptableStatus, -1011),
        (.unacceptableContentType, -1016), (.noContent, -1014), (.unreadableContent, -1016), (.decodingFailed, -1016),
        (.invalidConfiguration, -1),
        (.sessionShutDown, -1), (.insecurePinningConfiguration, -1), (.bodyNotReplayable, -1021),
        (.tooManyRedirects, -1007), (.redirectLoop, -1007), (.invalidRedirect, -1010),
        (.insecureRedirect, -1022), (.fileNotCreated, -3000), (.fileNotWritten, -3003), (.fileNotMoved, -3005),
        (.digestMismatch, -1016), (.invalidResumeData, -1015), (.init("imageDecodingFailed"), -1016),
        (.init("notRecorded"), -1008),
    ]

    @Test(.rows("G-9", "SM-85", "VD-7"))
    func `an error has Foundation's number and domain, or AFNetworking's for what that refuses`() {
        for (code, number) in Self.numbers {
            let domain =
                switch code {
                case .unacceptableStatus, .unacceptableContentType: "com.alamofire.error.serialization.response"
                case .invalidParameters, .invalidPart: "com.alamofire.error.serialization.request"
                default: "NSURLErrorDomain"
                }
            let known = NetworkError(code, "").foundationCode
            #expect(known == .init(domain, number), "\(code)")
        }
    }

    /// By the source, for codes are an open set that cannot be listed.
    @Test func `every error code of any module has a number`() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        var names: [String] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            // An extension of it ends at the first brace in the first column.
            for part in text.split(separator: "extension NetworkError.Code ").dropFirst() {
                for line in part.split(separator: "\n").prefix(while: { $0 != "}" })
                where line.contains("static let") && line.contains("Self(\"") {
                    names.append(String(line.split(separator: "\"")[1]))
                }
            }
        }
        let known = Set(Self.numbers.map(\.0.rawValue))
        #expect(names.count >= 20 && names.contains("imageDecodingFailed"))
        #expect(names.filter { !known.contains($0) } == [])
    }

    @Test func `the number of an error is more exact where the cause says more`() {
        let address = HTTP.SocketAddress.v4(0x7F00_0001, port: 80)
        let failures = { (numbers: [Int32]) in
            NetworkError.ConnectionFailures(numbers.map { .init(address: address, errno: $0, reason: "") })
        }
        let table: [(NetworkError.Code, any Error, Int)] = [
            (.connectionFailed, failures([101]), -1009), (.connectionFailed, failures([101, 100]), -1009),
            (.connectionFailed, failures([101, 111]), -1004), (.connectionFailed, failures([]), -1004),
            (.timedOut, failures([101]), -1001),
            (.fileUnreadable, Errno(rawValue: 2), -1100), (.fileUnreadable, Errno(rawValue: 20), -1100),
            (.fileUnreadable, Errno(rawValue: 21), -1101), (.fileUnreadable, Errno(rawValue: 13), -1102),
            (.secureConnectionFailed, TLSError.notTLS, -1200),
            (.secureConnectionFailed, TLSError.clientCertificateRequired, -1206),
            (.secureConnectionFailed, TLSError.alert(.certificateRequired), -1206),
            (.secureConnectionFailed, TLSError.alert(.badCertificate), -1205),
            (.secureConnectionFailed, TLSError.alert(TLSAlert(code: 48)), -1205),
            (.secureConnectionFailed, TLSError.alert(.handshakeFailure), -1200),
        ]
        for (code, cause, number) in table {
            let error = NetworkError(code, "", underlying: cause)
            #expect(error.foundationCode == .init("NSURLErrorDomain", number), "\(code), \(cause)")
        }
    }

    @Test(.rows("SM-54")) func `errors of the lower layers have numbers too, and foreign errors have none`() {
        struct Stranger: Error {}
        let refusal = NetworkError.TrustRefusal(.expired, host: "api.test")
        let table: [(any Error, NetworkError.FoundationCode?)] = [
            (CancellationError(), .cancelled), (NetworkError(.timedOut, ""), .timedOut),
            (NetworkError(.init("not known yet"), ""), .unknown), (refusal, .serverCertificateUntrusted),
            (HTTPSession.ServerTrustFailure(host: "api.test", refusal: refusal), .serverCertificateUntrusted),
            (TLSError.untrusted(refusal), .serverCertificateUntrusted), (TLSError.truncated, .secureConnectionFailed),
            (Errno(rawValue: 104), .init("NSPOSIXErrorDomain", 104)), (Stranger(), nil),
        ]
        for (error, code) in table { #expect(NetworkError.FoundationCode(of: error) == code, "\(error)") }
        #expect("\(NetworkError.FoundationCode.cancelled)" == "NSURLErrorDomain -999")
    }
}

@Suite struct `Sentences of errors` {
    @Test(.rows("SM-86", "VD-7")) func `a server that is not trusted is described in AFNetworking's words`() {
        let refusal = NetworkError.TrustRefusal(.expired, host: "api.test")
        let sentence =
            "The certificate for this server is invalid. You might be connecting to a server that is pretending to be "
            + "“api.test” which could put your confidential information at risk."
        for cause in [refusal, HTTPSession.ServerTrustFailure(host: "api.test", refusal: refusal)] as [any Error] {
            let error = NetworkError(.serverTrustFailed, "expired", underlying: cause)
            #expect(error.foundationDescription == sentence)
            #expect(error.trustFailure?.refusal == refusal)
        }
        #expect(NetworkError(.serverTrustFailed, "no cause").foundationDescription == "no cause")
    }

    @Test(
        .rows("G-8", "RS-8", "LX-7"),
        arguments: [
            (404 as HTTP.Status, "Not Found"), (418, "Client Error"), (599, "Server Error"),
            (503, "Service Unavailable"),
            (302, "Found"), (304, "Not Modified"), (99, "Unknown Status"), (999, "Unknown Status"),
        ])
    func `a status that is not accepted is described in AFNetworking's words`(status: HTTP.Status, phrase: String) {
        let error = NetworkError(.unacceptableStatus, "", response: ResponseHead(status: status))
        #expect(error.foundationDescription == "Request failed: \(phrase) (\(status.code))")
        #expect(NetworkError(.unacceptableStatus, "no head").foundationDescription == "no head")
    }

    @Test(
        .rows("RS-7"),
        arguments: [("text/html", "text/html"), ("Text/HTML; charset=utf-8", "text/html"), (nil, "none")])
    func `a content type that is not accepted is described in AFNetworking's words`(declared: String?, told: String) {
        var head = ResponseHead(status: .ok)
        head.fields["Content-Type"] = declared
        let error = NetworkError(.unacceptableContentType, "", response: head)
        #expect(error.foundationDescription == "Request failed: unacceptable content-type: \(told)")
    }

    @Test func `an error without such a sentence is described by its reason`() {
        #expect(NetworkError(.timedOut, "it took too long").foundationDescription == "it took too long")
    }
}
