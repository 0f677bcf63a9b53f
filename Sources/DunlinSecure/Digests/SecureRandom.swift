internal import COpenSSL

/// Random numbers that nobody can predict, many at once.
package enum SecureRandom {
    package static func numbers(_ count: Int) -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: count)
        let isDrawn = numbers.withUnsafeMutableBytes { room in
            RAND_bytes(room.bindMemory(to: UInt8.self).baseAddress, Int32(room.count)) == 1
        }
        if isDrawn { return numbers }
        OpenSSLErrors.clear()
        var system = SystemRandomNumberGenerator()
        return numbers.map { _ in system.next() }
    }
}
