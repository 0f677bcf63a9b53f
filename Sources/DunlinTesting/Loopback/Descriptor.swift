internal import DunlinReactor
internal import Glibc

extension LoopbackServer {
    /// Owns one file descriptor: closed exactly once, when its owner goes.
    struct Descriptor: ~Copyable, Sendable {
        let number: Int32

        /// Takes over what a system call returned; a negative number is the call's failure.
        init(adopting number: Int32) throws(Errno) {
            guard number >= 0 else { throw .last }
            self.number = number
        }

        deinit { _ = Glibc.close(number) }

        /// Gives the number away; whoever adopts it next must close it.
        consuming func release() -> Int32 {
            let number = number
            discard self
            return number
        }

        /// Closes now rather than at the end of the scope.
        consuming func close() {}

        func duplicate() throws(Errno) -> Descriptor {
            try Descriptor(adopting: fcntl(number, F_DUPFD_CLOEXEC, 0))
        }
    }
}
