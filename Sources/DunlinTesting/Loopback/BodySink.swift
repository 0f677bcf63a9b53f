internal import DunlinTypes

extension LoopbackServer {
    /// Receives a request body: it is kept up to a limit, and beyond that only counted and hashed.
    struct BodySink {
        let limit: Int
        private(set) var kept: [UInt8] = []
        private(set) var count = 0
        private(set) var hash: BodyHash?
        var trailers = Fields()

        init(limit: Int) {
            self.limit = limit
        }

        mutating func append(_ bytes: ArraySlice<UInt8>) {
            count += bytes.count
            if hash == nil {
                kept += bytes
                guard count > limit else { return }
                hash = BodyHash(Bytes(kept))
                kept = []
            } else {
                bytes.withUnsafeBytes { hash?.update($0) }
            }
        }
    }
}
