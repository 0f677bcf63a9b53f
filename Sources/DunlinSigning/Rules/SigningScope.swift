package import Dunlin
package import FoundationEssentials

/// When and for what a signature holds.
package struct SigningScope: Sendable, Hashable {
    /// The time in UTC: `20150830T123600Z`.
    package let time: String
    package let region: String
    package let service: String

    package init(_ date: Date, region: String, service: String) throws(NetworkError) {
        // From 1970 to the end of the year 9999, which has a day of eight digits.
        guard (0..<253_402_300_800).contains(date.timeIntervalSince1970) else {
            throw NetworkError(
                .invalidConfiguration,
                "requests cannot be signed for a time before 1970 or after 9999; check the signer's `clock`")
        }
        let digits = CalendarText.utc(Int64(date.timeIntervalSince1970)).filter(\.isNumber)
        time = "\(digits.prefix(8))T\(digits.suffix(6))Z"
        self.region = region
        self.service = service
    }

    package var day: Substring { time.prefix(8) }

    /// `20150830/us-east-1/service/aws4_request`.
    package var text: String { "\(day)/\(region)/\(service)/aws4_request" }

    package func stringToSign(_ request: CanonicalRequest) throws -> String {
        "AWS4-HMAC-SHA256\n\(time)\n\(text)\n\(try ContentDigest(.sha256, of: request.bytes).hex)"
    }
}
