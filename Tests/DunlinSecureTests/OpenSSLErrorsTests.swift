import COpenSSL
import Testing

@testable import DunlinSecure

@Suite struct `OpenSSL's errors` {
    @Test func `the first of OpenSSL's errors is taken, and the queue is empty after`() {
        OpenSSLErrors.clear()
        #expect(OpenSSLErrors.take() == 0)
        let cipher = EVP_CIPHER_fetch(nil, "no such cipher", nil)
        #expect(cipher == nil)
        #expect(OpenSSLErrors.take() != 0)
        #expect(OpenSSLErrors.take() == 0)
    }
}
